// The transcripts of coding agents: a task is a session, whose lines are in one file, and those of its sub-agents in others.
import { createHash } from 'node:crypto'
import { type CodingFormatName, createSession, type Session } from '@svc/adapters/sessions'
import { taskIdOf } from '@svc/engine/parts'
import type { Behavior } from '@svc/schemas'
import type { ImportPlan } from '../reading/options.js'
import type { ImportReader, Recorded } from '../reading/reader.js'
import { mergedValues, type SessionValue } from './merge.js'
import { createPlaces, type Part } from './places.js'
import { createTally } from './tally.js'

/** Steps of a session, and characters of their lines, in memory before they are written or sent. */
const maxSteps = 600
const maxCharacters = 4 * 1024 * 1024

export function createSessionReader(format: CodingFormatName, plan: ImportPlan): ImportReader {
  const places = createPlaces(format)
  const tally = createTally()
  const guessed = new Set<string>()
  let tasks: ReadonlyMap<string, readonly Task[]> = new Map()

  async function* read(task: Task): AsyncGenerator<Recorded> {
    const { place, agent_of } = task
    const id = agent_of === null ? task.session : `${task.session}/${agent_of}`
    const task_id = /^[ -~]{1,200}$/.test(id) ? id : taskIdOf(plan.agent_key, id)
    const { agent_key, start, tools } = plan
    const session = createSession({ format, agent_key, session_id: task.session, task_id, start, tools })
    const seen = createSeen(format === 'claude-code' || task.main.length > 1)
    let steps: Behavior[] = []
    let characters = 0
    for await (const line of mergedValues(task.main, task.agents)) {
      if (seen.has(line)) {
        tally.repeat()
        continue
      }
      const added = session.add(line.value)
      steps.push(...added.steps)
      tally.add(added.others)
      characters += line.text.length
      if (steps.length === 0 || (steps.length < maxSteps && characters < maxCharacters)) continue
      yield { place, steps, continues: true }
      steps = []
      characters = 0
    }
    steps.push(...session.finish(plan.is_over))
    close(session)
    yield { place, steps }
  }
  const close = (session: Session) => {
    for (const name of session.guessed_tools) guessed.add(name)
    tally.leave(session.left())
  }

  return {
    survey: places.note,
    agents: () => {
      tasks = tasksIn(places.parts)
      for (const { agent_of } of [...tasks.values()].flat()) if (agent_of !== null) tally.addLoneAgent()
      return [{ agent_key: plan.agent_key, name: plan.agent_key, keeps_registration: true }]
    },
    read: async function* ({ path }) {
      for (const task of tasks.get(path) ?? []) yield* read(task)
    },
    guessed_tools: () => [...guessed].sort(),
    remarks: () => tally.remarks(places.counts),
  }
}

interface Task {
  readonly session: string
  /** The task in messages. */
  readonly place: string
  /** The sub-agent, when only its file is there; null for a session. */
  readonly agent_of: string | null
  readonly main: readonly Part[]
  readonly agents: readonly Part[]
}

/** The tasks by the file in which each begins. A sub-agent without its session is a task, so that nothing is lost. */
function tasksIn(parts: readonly Part[]): Map<string, Task[]> {
  const sessions = grouped(parts, ({ session }) => session)
  const tasks = [...sessions].flatMap(([session, all]): Task[] => {
    if (!all.some(({ has_acts }) => has_acts)) return []
    const main = all.filter(({ agent }) => agent === null)
    const agents = all.filter(({ agent }) => agent !== null)
    const place = `session ${session}`
    if (main.length > 0) return [{ session, place, agent_of: null, main, agents }]
    return [...grouped(agents, ({ agent }) => agent)].map(([agent_of, own]) => ({
      session,
      place: `${place}, sub-agent ${agent_of}`,
      agent_of,
      main: own,
      agents: [],
    }))
  })
  return grouped(tasks, ({ main }) => main[0]?.path ?? '')
}

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Lines in memory, to recognise one that is there again. */
const maxSeen = 100_000

/** A session that was continued, or whose file was copied, has lines twice. */
function createSeen(is_used: boolean) {
  let recent = new Set<string>()
  let older = new Set<string>()
  return {
    has: ({ value, text }: SessionValue): boolean => {
      if (!is_used) return false
      const id = typeof value.uuid === 'string' ? value.uuid : createHash('sha256').update(text).digest('base64')
      if (recent.has(id) || older.has(id)) return true
      recent.add(id)
      if (recent.size >= maxSeen) {
        older = recent
        recent = new Set()
      }
      return false
    },
  }
}
