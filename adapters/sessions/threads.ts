// Applies each act of a line to its agent or sub-agent.
import type { Body } from '@svc/engine/parts'
import type { Act, CallAct, ModelPart, ResultAct, SessionLine, Usage } from './act.js'
import { knownTool } from './known-tools.js'
import {
  agentAnswerBody,
  messageBody,
  modelBody,
  noticeBody,
  stoppedBody,
  summaryBody,
  unexpectedBody,
} from './message-steps.js'
import { newAnswer } from './model-answer.js'
import type { Actor, Queue } from './queue.js'
import {
  answerOf,
  callOf,
  closeAll,
  closeAnswer,
  closeCall,
  type Moment,
  newThread,
  type OpenCall,
  putSlot,
  type Thread,
  type ThreadTable,
  threadOf,
} from './thread.js'
import { type ToolSettings, toolSteps } from './tool-steps.js'

export interface Threads {
  readonly add: (line: SessionLine, at: Moment) => void
  /** Tools whose meaning is guessed by their names. */
  readonly guessed: ReadonlySet<string>
  /** No further line follows; with `is_over` none ever will. */
  readonly finish: (rest: readonly Act[], is_over: boolean, at: Moment) => void
}

/** Steps that wait for one that is not complete; then it counts as complete, so that memory stays bounded. */
const maxWaiting = 5000

interface State extends ThreadTable {
  readonly settings: ToolSettings
  readonly guessed: Set<string>
}

export function createThreads(queue: Queue, settings: ToolSettings): Threads {
  const main = newThread(null, 0, null)
  const state: State = {
    queue,
    settings,
    main,
    threads: new Map(),
    calls: new Map(),
    launched: new Map(),
    guessed: new Set(),
  }
  let latest = main
  const all = () => [main, ...state.threads.values()]
  return {
    guessed: state.guessed,
    add: (line, at) => {
      if (line.acts.length === 0) return
      latest = threadOf(state, line)
      for (const act of line.acts) addAct(state, latest, at, act)
      if (queue.size() > maxWaiting) for (const thread of all()) closeAll(state, thread)
    },
    finish: (rest, is_over, at) => {
      for (const act of rest) addAct(state, latest, at, act)
      for (const thread of all()) {
        if (is_over) closeAll(state, thread)
        else if (thread.answer?.content.is_last === true) closeAnswer(thread)
      }
    },
  }
}

function addAct(state: State, thread: Thread, at: Moment, act: Act): void {
  if (act.kind === 'part') addPart(state, thread, at, act)
  else if (act.kind === 'call') addCall(state, thread, at, act)
  else if (act.kind === 'result') addResult(state, thread, at, act)
  else if (act.kind === 'usage') addUsage(state, thread, at, act.usage)
  else if (act.kind !== 'settled') {
    closeAll(state, thread)
    putSlot(state, thread, momentOf(act, at), () => [otherBody(act, thread)])
  } else if (act.calls) closeAll(state, thread)
  else closeAnswer(thread)
}

function addPart(state: State, thread: Thread, at: Moment, part: ModelPart): void {
  answerOf(state, thread, at, part.id).add(part)
  if (part.is_error) return
  for (const text of part.texts)
    if (text.trim() !== '') putSlot(state, thread, at, () => [messageBody('POST', text, thread)])
}

function addCall(state: State, thread: Thread, at: Moment, act: CallAct): void {
  const { settings, calls, guessed } = state
  answerOf(state, thread, at, thread.answer?.content.id ?? null).calls.push(act)
  const known = knownTool(settings.format, act.name)
  if (known === null) guessed.add(act.name)
  const steps = () => toolSteps({ call: act, result: resultOfStep(call), folder: at.folder }, settings)
  const call: OpenCall = {
    act,
    thread,
    spawns: known?.spawns === true,
    started: null,
    result: null,
    slot: putSlot(state, thread, at, steps, false),
  }
  thread.open.add(call)
  if (act.id !== null) calls.set(act.id, call)
}

function addResult(state: State, thread: Thread, at: Moment, given: ResultAct): void {
  const call = callOf(state, thread, given)
  if (call === undefined) {
    putSlot(state, thread, at, () => [unexpectedBody(given)])
    return
  }
  const isTrusted = given.is_certain || knownTool(state.settings.format, call.act.name) !== null
  const result = isTrusted ? given : { ...given, refusal: null }
  call.result = result
  if (result.launched !== null) state.launched.set(result.launched, call)
  else if (call.started !== null) closeAll(state, call.started)
  closeCall(state, call)
  if (call.spawns && result.refusal === null)
    putSlot(state, call.thread, at, () => [agentAnswerBody(call.act.name, result)])
}

/** Tokens without an answer are those of a call of the model that the transcript does not show. */
function addUsage(state: State, thread: Thread, at: Moment, usage: Usage): void {
  const answer = thread.answer?.content ?? newAnswer(null)
  answer.usage = usage
  if (thread.answer === null) putSlot(state, thread, at, () => [modelBody(answer)])
  closeAnswer(thread)
}

/** The start of a sub-agent is a message to it, whose answer is another step. */
function resultOfStep({ spawns, result }: OpenCall): ResultAct | null {
  return spawns && result?.refusal === null ? null : result
}

/** A message that was held back has a time of its own. */
function momentOf(act: Act, at: Moment): Moment {
  const time = act.kind === 'received' ? act.time : null
  return time === null ? at : { ...at, time, has_time: true }
}

function otherBody(act: Exclude<Act, { kind: 'part' | 'call' | 'result' | 'usage' | 'settled' }>, thread: Actor): Body {
  switch (act.kind) {
    case 'received':
      return messageBody('GET', act.content, thread, act.meta)
    case 'notice':
      return noticeBody(act.content)
    case 'summary':
      return summaryBody(act.content)
    case 'stopped':
      return stoppedBody()
  }
}
