// From the lines of one session to its steps (docs/adr/0054-coding-agent-transcripts.md). Steps are numbered in the order
// of the lines, and a step is given out only when later lines cannot change it: a session that has grown begins with the
// same steps.
import type { ToolMap } from '@svc/engine'
import { type Body, eachShallow, meaningsBy } from '@svc/engine/parts'
import type { Behavior, JsonMap } from '@svc/schemas'
import type { LineReader, OtherLine, SessionFacts } from './act.js'
import { createClaudeReader } from './claude.js'
import { createCodexReader } from './codex.js'
import type { CodingFormatName } from './known-tools.js'
import { createQueue, type Slot } from './queue.js'
import { createThreads } from './threads.js'

export interface SessionSettings {
  readonly format: CodingFormatName
  readonly agent_key: string
  readonly session_id: string
  readonly task_id: string
  /** ms since 1970, for lines before the first with a time. */
  readonly start: number
  readonly tools: ToolMap
}

export interface Session {
  /** The steps that are complete after this line, and what else is in the line. */
  readonly add: (value: JsonMap) => Added
  /** The last steps; with `is_over` also those that later lines could still change, and the end of the task. */
  readonly finish: (is_over: boolean) => Behavior[]
  /** Tools so far whose meaning is guessed by their names. */
  readonly guessed_tools: ReadonlySet<string>
  /** Steps that `finish` left out, because later lines could still change them. */
  readonly left: () => number
}

interface Added {
  readonly steps: readonly Behavior[]
  readonly others: readonly OtherLine[]
}

const readers: Readonly<Record<CodingFormatName, () => LineReader>> = {
  'claude-code': createClaudeReader,
  codex: createCodexReader,
}

export function createSession(settings: SessionSettings): Session {
  const { agent_key, task_id, format, tools } = settings
  const reader = readers[format]()
  const queue = createQueue()
  const threads = createThreads(queue, { format, tools, meanings: meaningsBy(tools) })
  let facts: SessionFacts = {}
  let folder: string | null = null
  let time = settings.start
  let has_time = false
  let number = 0

  const stepOf = (body: Body, at: Pick<Slot, 'time' | 'has_time' | 'line'>): Behavior => {
    const { meta, ...others } = body
    const transcript = { ...(at.line !== null && { line: at.line }), ...(meta?.transcript as JsonMap | undefined) }
    const marked = {
      ...meta,
      ...(Object.keys(transcript).length > 0 && { transcript }),
      ...(!at.has_time && { synthetic_time: true }),
    }
    number += 1
    return {
      agent_id: agent_key,
      task_id,
      step: number,
      timestamp: new Date(at.time).toISOString(),
      ...others,
      ...(Object.keys(marked).length > 0 && { meta: marked }),
    }
  }
  const stepsOf = (slots: readonly Slot[]): Behavior[] =>
    slots.flatMap((slot) => {
      const first = number === 0 ? [stepOf(startOf(settings, slot.facts), { ...slot, line: null })] : []
      slot.number = number + 1
      return [...first, ...slot.make().map((body) => stepOf(inThread(body, slot), slot))]
    })

  return {
    guessed_tools: threads.guessed,
    add: (value) => {
      const line = reader.read(value)
      facts = { ...line.facts, ...facts }
      folder = line.facts.cwd ?? folder
      if (line.time !== null) {
        time = line.time
        has_time = true
      }
      threads.add(line, { time, has_time, line: line.id, folder, facts })
      return { steps: stepsOf(queue.take()), others: line.others }
    },
    finish: (is_over) => {
      threads.finish(is_over ? reader.rest() : [], is_over, { time, has_time, line: null, folder, facts })
      const last = stepsOf(queue.take())
      if (!is_over || number === 0) return last
      return [...last, stepOf({ step_type: 'task.end' }, { time, has_time, line: null })]
    },
    left: () => queue.size() + reader.rest().length,
  }
}

/** The start has the agent and where it worked, so that a replay knows the root of the project. */
function startOf({ agent_key, session_id, format }: SessionSettings, facts: SessionFacts): Body {
  const { cwd, instructions = [], ...others } = facts
  const session: JsonMap = { id: session_id, format, ...(cwd !== undefined && { cwd }), ...others }
  return {
    step_type: 'task.start',
    ...(instructions.length > 0 && { input: { instructions: [...instructions] } }),
    meta: {
      agent: { agent_key, ...(cwd !== undefined && { project_root: cwd }) },
      session: eachShallow(session),
    },
  }
}

function inThread(body: Body, { thread }: Slot): Body {
  if (thread.id === null) return body
  const spawn_step = thread.spawn?.number ?? null
  const subagent = { id: thread.id, depth: thread.depth, ...(spawn_step !== null && { spawn_step }) }
  return { ...body, properties: { ...body.properties, svc: { subagent } } }
}
