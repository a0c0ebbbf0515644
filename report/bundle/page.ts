// A page of entries from the texts of a bundle, as the platform reads it from its tables.
import { parseJson } from '@svc/proof'
import type { BundledText } from '@svc/proof/verify'
import type { AppliedRow, AskedRow, EntriesPage, EvaluatedRow, ViolationRow } from '../content/messages.js'
import { rowsOf } from '../tally/leaves.js'
import { isCritical } from '../tally/steps/steps.js'
import { type LeafText, leafLine } from './source.js'

/** Facts that the texts of the entries do not show. */
export interface PageClaims extends Pick<EntriesPage, 'from' | 'to' | 'violations' | 'memory'> {
  /** The types of entries whose record was deleted. */
  readonly removed: readonly (readonly [log_index: number, type: string])[]
}

export function pageClaims({ from, to, violations, memory, leaves, steps, records }: EntriesPage): PageClaims {
  const kept = new Set(linesIn(steps).map((line) => Number.parseInt(line, 10)))
  for (const [index] of rowsOf<readonly [number]>(records)) kept.add(index)
  const removed = linesIn(leaves).flatMap((line) => {
    const [index, type = ''] = line.split('\t', 2)
    return kept.has(Number(index)) ? [] : [[Number(index), type] as const]
  })
  return { from, to, violations, memory, removed }
}

/** The page with these claims; the roots of its checkpoints were compared when the bundle was verified. */
export function pageOf(
  { from, to, violations, memory, removed }: PageClaims,
  texts: readonly BundledText[],
): EntriesPage {
  const types = new Map(removed)
  const typed = texts.map((text) => ({ ...text, type: types.get(text.log_index) ?? typeIn(text.record) }))
  const steps = typed.filter((text): text is typeof text & LeafText => text.type === 'step' && text.record !== null)
  const others = typed.filter((text): text is typeof text & LeafText => text.type !== 'step' && text.record !== null)
  const kept = steps.filter((text): text is Kept => text.body !== null)
  const evaluations = kept.map((text) => ({ ...text, evaluation: evaluationIn(text.body) }))
  const asking = new Set(
    rowsOf<ViolationRow>(violations)
      .filter(isAsking)
      .map(([index]) => index),
  )
  return {
    from,
    to,
    leaves: joined(typed.map(({ log_index, type, hash }) => `${log_index}\t${type}\t${hash}`)),
    steps: joined(steps.map(({ log_index, record }) => `${log_index}\t${record}`)),
    kept: joined(kept.map(indexOf), ' '),
    memory,
    decided: joined(kept.filter(isDecided).map(indexOf), ' '),
    records: joined(others.map(leafLine)),
    violations,
    evaluated: rows(
      evaluations
        .filter(isEvaluated)
        .map(({ log_index, salts, evaluation }): EvaluatedRow => [log_index, saltIn(salts), evaluation]),
    ),
    applied: rows(
      evaluations
        .filter(({ evaluation }) => evaluation !== '[]')
        .map(({ log_index, evaluation }): AppliedRow => [evaluation, [log_index]]),
    ),
    asked: rows(
      kept
        .filter(({ log_index }) => asking.has(log_index))
        .map(({ log_index, salts, body }): AskedRow => [log_index, salts, body]),
    ),
    checkpoints: null,
  }
}

type Kept = LeafText & { readonly type: string; readonly body: string }

function typeIn(record: string | null): string {
  return record === null ? '' : String((parseJson(record) as { readonly type?: unknown }).type)
}

const prefix = '{"evaluation":'

/** The evaluation comes first in the payload of a step, and has no list in it. */
function evaluationIn(body: string): string {
  return `${body.slice(prefix.length).split(']', 1)[0]}]`
}

function saltIn(salts: string | null): string | null {
  return /^\{"evaluation":"([0-9a-f]*)"/.exec(salts ?? '')?.[1] ?? null
}

/** A step that violated a policy, or that a gate approved. */
function isEvaluated({ evaluation }: { readonly evaluation: string }): boolean {
  return evaluation.includes('"violated":true') || evaluation.includes('"approved_by_step":')
}

/** A step that a local engine evaluated before it ran, or the end of a task that it wrote itself. */
function isDecided({ body }: Kept): boolean {
  const isEvaluatedBefore = body.includes('"svc.eval":{"') && !body.includes('"svc.late":true')
  return isEvaluatedBefore || body.includes('"svc.end":"end_task"')
}

/** A violation of a critical policy, or without the approval that a policy asked for. */
function isAsking(row: ViolationRow): boolean {
  return row[6] === true || isCritical(row)
}

function indexOf({ log_index }: BundledText): number {
  return log_index
}

function linesIn(text: string | null): string[] {
  return text === null ? [] : text.split('\n')
}

function rows(all: readonly unknown[]): string | null {
  return joined(all.map((row) => JSON.stringify(row)))
}

/** Null for nothing, as the database joins no texts. */
function joined(texts: readonly unknown[], separator = '\n'): string | null {
  return texts.length === 0 ? null : texts.join(separator)
}
