// The cases of approvals: data that the local engine and the platform play with equal results.
import { readFileSync } from 'node:fs'
import type { Behavior, Evaluation, JsonMap } from '@svc/schemas'
import { expect } from 'vitest'
import { parse, stringify } from 'yaml'
import { rejectedMessage } from '../../../engine/policy/messages.js'

type Act =
  | {
      readonly evaluate: string
      readonly outcome: Evaluation['outcome']
      readonly asks?: readonly string[]
      readonly rejected_at?: number
    }
  | { readonly decide: 'passed' | 'rejected' | 'pending'; readonly of?: readonly string[] }
  | ({ readonly record: string } & Partial<RecordedResult>)

export interface ApprovalCase {
  readonly name: string
  readonly acts: readonly Act[]
  readonly incidents: readonly string[]
}

/** What is stored of a recorded step: names of policies, and steps of gates by the names of the policies they satisfied. */
export interface RecordedResult {
  readonly violated: readonly string[]
  readonly approved: Readonly<Record<string, number>>
  /** Null where it is not stored. */
  readonly asks: readonly string[] | null
}

/** A server that plays one task. */
export interface Entrance {
  readonly evaluate: (step: Behavior) => Promise<Evaluation>
  /** Sends the body of a gate as it is. */
  readonly send: (gate: JsonMap) => Promise<void>
  readonly record: (step: Behavior) => Promise<RecordedResult>
  /** Names of the policies with an incident in the task. */
  readonly incidents: () => Promise<string[]>
}

interface Written {
  readonly manifest: JsonMap
  readonly steps: Readonly<Record<string, Behavior>>
  readonly cases: readonly ApprovalCase[]
}

const written = parse(readFileSync(new URL('../../cases/approvals.yaml', import.meta.url), 'utf8')) as Written

export const approvalCases = written.cases
/** The manifest of the cases, as text. */
export const approvalManifest = stringify(written.manifest)

/** A step of the cases by its name. */
export function namedStep(name: string): Behavior {
  const step = written.steps[name]
  if (step === undefined) throw new Error(`no step \`${name}\``)
  return step
}

/** Plays a case, and expects what it says. */
export async function play({ acts, incidents }: ApprovalCase, to: Entrance): Promise<void> {
  let last: Evaluation | null = null
  for (const act of acts) {
    if ('evaluate' in act) {
      last = await to.evaluate(namedStep(act.evaluate))
      expect([act.evaluate, last.outcome, asking(last)]).toEqual([act.evaluate, act.outcome, act.asks ?? []])
      expectRejection(last, act.rejected_at)
      expect(last.blocked).toBe(act.outcome === 'ask' || act.outcome === 'block')
    } else if ('decide' in act) {
      for (const gate of gatesOf(last, act.of)) await to.send(withResult(gate, act.decide))
    } else {
      const { violated = [], approved = {}, asks = [] } = act
      const result = await to.record(namedStep(act.record))
      expect([act.record, result]).toEqual([act.record, { violated, approved, asks: result.asks && asks }])
    }
  }
  expect(await to.incidents()).toEqual([...incidents].sort())
}

/** Names of the policies that ask for an approval. */
function asking({ approval_required = [], policies }: Evaluation): string[] {
  return approval_required.map(({ policy_id }) => policies.find((one) => one.policy_id === policy_id)?.name ?? '')
}

function gatesOf(asked: Evaluation | null, of: readonly string[] | undefined): JsonMap[] {
  if (asked === null) throw new Error('nothing was evaluated')
  const names = asking(asked)
  const gates = (asked.approval_required ?? []).map(({ gate }) => gate)
  return of === undefined ? gates : gates.filter((_, index) => of.includes(names[index] ?? ''))
}

/** A step that a person rejected is told so, and which gate did. */
function expectRejection({ reason, message }: Evaluation, at: number | undefined): void {
  if (at === undefined) expect(message ?? '').not.toMatch(/rejected/)
  else
    expect([reason, message]).toEqual([
      expect.stringContaining(`a person rejected this step at step ${at}:`),
      rejectedMessage,
    ])
}

/** The same gate with another result. */
function withResult(gate: JsonMap, result: string): JsonMap {
  return JSON.parse(JSON.stringify(gate).replace('"result":"passed"', `"result":"${result}"`)) as JsonMap
}
