// Lines of a trace ⇄ the body and the answer of POST /api/v1/traces. The text of a line is passed on as it is, so that the platform
// gets what the engine wrote.
import { parseJson } from '@svc/proof'
import { stepOfEnd } from './end-step.js'
import { headOf } from './line-head.js'
import { type LineResult, objectIn, resultIn } from './post.js'
import type { Failure, Rejection } from './sender.js'

const lists = ['steps', 'incidents', 'unrecorded', 'gaps'] as const
type List = (typeof lists)[number]

export interface TraceRequest {
  /** Null when none of the lines is sent. */
  readonly body: string | null
  /** For each list of the body, the index of the line of each item. */
  readonly sources: Readonly<Record<List, readonly number[]>>
  /** Lines that are not those of a trace. */
  readonly unreadable: readonly number[]
}

export function traceRequest(lines: readonly Buffer[], agent_key: string): TraceRequest {
  const items: Record<List, string[]> = { steps: [], incidents: [], unrecorded: [], gaps: [] }
  const sources: Record<List, number[]> = { steps: [], incidents: [], unrecorded: [], gaps: [] }
  const unreadable: number[] = []
  for (const [index, line] of lines.entries()) {
    const found = itemOf(line)
    if (found === 'unreadable') unreadable.push(index)
    if (found === null || found === 'unreadable') continue
    items[found.list].push(found.text)
    sources[found.list].push(index)
  }
  const members = lists.flatMap((list) => (items[list].length > 0 ? [`,"${list}":[${items[list]}]`] : []))
  const body = `{"agent_key":${JSON.stringify(agent_key)}${members.join('')}}`
  return { body: members.length === 0 ? null : body, sources, unreadable }
}

interface Item {
  readonly list: List
  /** Its JSON. */
  readonly text: string
}

const ownLists: Readonly<Record<string, List>> = { incident: 'incidents', unrecorded: 'unrecorded', gap: 'gaps' }

/** Null for a line that is not sent: an evaluation, and the end of a task that has its step. */
function itemOf(line: Buffer): Item | 'unreadable' | null {
  const head = headOf(line)
  if (head === null) return 'unreadable'
  const { kind, others } = head
  if (kind === 'step') return { list: 'steps', text: others }
  const list = ownLists[kind]
  if (list !== undefined) return { list, text: line.toString() }
  if (kind === 'evaluation') return null
  return kind === 'end' ? endOf(line) : 'unreadable'
}

/** The end of a task that has steps and no task.end, as that step. */
function endOf(line: Buffer): Item | 'unreadable' | null {
  try {
    const step = stepOfEnd(parseJson(line.toString()) as Parameters<typeof stepOfEnd>[0])
    if (step === null) return null
    const { kind: _kind, recorded_at: _recorded_at, ...sent } = step
    return { list: 'steps', text: JSON.stringify(sent) }
  } catch {
    return 'unreadable'
  }
}

/** The results of the lines of a request that the platform took as a whole. */
export interface TraceOutcome {
  readonly taken: number
  readonly rejected: readonly Rejection[]
  readonly later: Failure | null
}

const unreadableLine = { problem: 'a line of the trace cannot be read', detail: 'not a line of a trace' }

/** Reads the answer; null when it is not one of this endpoint. */
export function traceOutcome(
  { sources, unreadable }: TraceRequest,
  count: number,
  answer: Buffer,
  asFailure: (problem: string) => Failure,
): TraceOutcome | null {
  const broken = unreadable.map((line) => ({ line, ...unreadableLine }))
  const sent = lists.reduce((sum, list) => sum + sources[list].length, 0)
  if (sent === 0) return { taken: count, rejected: broken, later: null }
  const results = resultsIn(answer, sources)
  if (results === null) return null
  const waiting = results.filter(({ status }) => isLater(status)).sort((one, other) => one.line - other.line)
  // INVARIANT (in order): what follows a line that must be sent again is sent again as well, which adds nothing.
  const taken = waiting[0]?.line ?? count
  const rejected = results
    .filter(({ status }) => status >= 400 && !isLater(status))
    .map(({ line, status, code, detail }) => ({
      line,
      problem: `the platform rejects a line of the trace (${status}${code})`,
      detail,
    }))
  const later = waiting[0] === undefined ? null : asFailure(problemOf(waiting[0]))
  return { taken, rejected: [...broken, ...rejected].filter(({ line }) => line < taken), later }
}

type Result = LineResult & { readonly line: number }

function isLater(status: number): boolean {
  return status === 403 || status === 429 || status >= 500
}

function problemOf({ status, code }: Result): string {
  return `the platform takes a line of the trace later (${status}${code})`
}

const resultMembers = { steps: 'results', incidents: 'incidents', unrecorded: 'unrecorded', gaps: 'gaps' } as const

function resultsIn(answer: Buffer, sources: TraceRequest['sources']): Result[] | null {
  const parsed = objectIn(answer) ?? {}
  const results: Result[] = []
  for (const list of lists) {
    const found = parsed[resultMembers[list]]
    if (sources[list].length > 0 && (!Array.isArray(found) || found.length !== sources[list].length)) return null
    for (const [index, line] of sources[list].entries()) {
      const result = resultIn((found as unknown[])[index])
      if (result === null) return null
      results.push({ line, ...result })
    }
  }
  return results
}
