// The agent of a session or one of its sub-agents: the answer of the model in progress, and the calls without a result.
import type { Body } from '@svc/engine/parts'
import type { Act, CallAct, ResultAct, SessionLine } from './act.js'
import { contentOf } from './content.js'
import { modelBody } from './message-steps.js'
import { type ModelAnswer, newAnswer } from './model-answer.js'
import type { Actor, Queue, Slot } from './queue.js'

export interface Thread extends Actor {
  /** The answer of the model that may have further parts. */
  answer: { readonly slot: Slot; readonly content: ModelAnswer } | null
  readonly open: Set<OpenCall>
}

export interface OpenCall {
  readonly act: CallAct
  readonly slot: Slot
  readonly thread: Thread
  /** The call starts a sub-agent. */
  readonly spawns: boolean
  /** The sub-agent that it started. */
  started: Thread | null
  result: ResultAct | null
}

/** The time and the session of a line. */
export type Moment = Pick<Slot, 'time' | 'has_time' | 'line' | 'folder' | 'facts'>

/** All threads of a session, and its calls without a result by their ids. */
export interface ThreadTable {
  readonly queue: Queue
  readonly main: Thread
  readonly threads: Map<string, Thread>
  readonly calls: Map<string, OpenCall>
  /** The calls that started sub-agents in the background, by the names of these. */
  readonly launched: Map<string, OpenCall>
}

export function newThread(id: string | null, depth: number, spawn: Slot | null): Thread {
  return { id, depth, spawn, answer: null, open: new Set() }
}

export function putSlot(
  { queue }: ThreadTable,
  thread: Thread,
  at: Moment,
  make: () => readonly Body[],
  settled = true,
) {
  const slot: Slot = { ...at, thread, settled, number: null, make }
  queue.put(slot)
  return slot
}

/** No result of the call is waited for any more. */
export function closeCall({ calls }: ThreadTable, call: OpenCall): void {
  call.slot.settled = true
  call.thread.open.delete(call)
  if (call.act.id !== null && calls.get(call.act.id) === call) calls.delete(call.act.id)
}

/** The answer has no further part. */
export function closeAnswer(thread: Thread): void {
  if (thread.answer !== null) thread.answer.slot.settled = true
  thread.answer = null
}

export function closeAll(table: ThreadTable, thread: Thread): void {
  closeAnswer(thread)
  for (const call of thread.open) closeCall(table, call)
}

/** The answer that a part with this id belongs to. Another id means that the model was called again, with all results. */
export function answerOf(table: ThreadTable, thread: Thread, at: Moment, id: string | null): ModelAnswer {
  const known = thread.answer
  if (known !== null && (id === null || known.content.id === id)) return known.content
  closeAll(table, thread)
  const content = newAnswer(id)
  thread.answer = { content, slot: putSlot(table, thread, at, () => [modelBody(content)], false) }
  return content
}

/** The thread of a line; the first line of a sub-agent shows the call that started it. */
export function threadOf(
  { main, threads, calls, launched }: ThreadTable,
  { thread: id, depth, acts }: SessionLine,
): Thread {
  if (id === null) return main
  const known = threads.get(id)
  if (known !== undefined) return known
  const spawn = launched.get(id) ?? spawnOf(calls.values(), acts)
  const thread = newThread(id, depth ?? (spawn?.thread.depth ?? 0) + 1, spawn?.slot ?? null)
  threads.set(id, thread)
  if (spawn !== null) {
    spawn.started = thread
    // It has certainly started; its answer becomes a step of its own.
    spawn.slot.settled = true
  }
  return thread
}

/** The call that started a sub-agent: the one with its first message, else the only one that started none. */
function spawnOf(calls: Iterable<OpenCall>, acts: readonly Act[]): OpenCall | null {
  const free = [...calls].filter(({ spawns, started }) => spawns && started === null)
  const first = acts.find((act) => act.kind === 'received')
  const prompt = first === undefined ? null : contentOf(first.content)
  return (
    free.find(({ act }) => (act.input as { prompt?: unknown } | null)?.prompt === prompt) ??
    (free.length === 1 ? (free[0] ?? null) : null)
  )
}

/** The call that a result answers: by its id; without one, the first call without an id, else the first. */
export function callOf({ calls }: ThreadTable, { open }: Thread, { id }: ResultAct): OpenCall | undefined {
  if (id !== null) return calls.get(id)
  const all = [...open]
  return all.find(({ act }) => act.id === null) ?? all[0]
}
