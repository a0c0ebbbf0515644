// The effect of a change of policies on the recorded tasks of several agents, each task given whole.
import type { JsonMap, Step } from '@svc/schemas'
import { compareTasks } from './replay/compare-tasks.js'
import { createList } from './replay/list.js'
import type { ReplayPolicy } from './replay/policies.js'
import type { Flip, Listed } from './replay/result.js'
import type { TaskChange } from './replay/tasks.js'

/** The effect of a change on tasks: numbers of tasks, and of all their steps. */
export interface TaskCounts {
  readonly tasks: number
  readonly steps: number
  /** Tasks with a step whose outcome differs; the three below count some of them, none twice. */
  readonly flipped_tasks: number
  /** Tasks that a step blocks, and that none blocked before. */
  readonly newly_blocked_tasks: number
  /** Other tasks in which a step asks a person, and none blocked or asked before. */
  readonly newly_asked_tasks: number
  readonly no_longer_blocked_tasks: number
}

export interface ImpactInput {
  readonly policies: readonly ReplayPolicy[]
  /** Indexes in `policies` of those in effect before and after the change. */
  readonly agents: readonly {
    readonly facts: JsonMap
    readonly before: readonly number[]
    readonly after: readonly number[]
  }[]
  /** First flips in the result. */
  readonly max_listed: number
}

/** The first step of a task whose outcome differs. */
export interface FirstFlip {
  /** The index of the agent. */
  readonly agent: number
  /** Null when the flips of the task only end questions, or begin or end reports. */
  readonly change: TaskChange | null
  /** The reason and the line of the manifest are in it. */
  readonly flip: Flip
  /** Of a newly blocked task: the first step that blocks, which may come after the flip; null at the end of the steps. */
  readonly blocked_step: number | null
}

export interface Impact extends TaskCounts {
  /** In the order of the input. */
  readonly agents: readonly TaskCounts[]
  /** Newly blocked tasks, then those no longer blocked, newly asked, and others; in each in the order of the tasks. */
  readonly first_flips: Listed<FirstFlip>
}

export interface ImpactReplay {
  /** Adds a task of the agent at that index. */
  readonly add: (agent: number, steps: readonly Step[]) => void
  readonly finish: () => Impact
}

/** Kept sets of compiled policies: about a megabyte each with a hundred policies. */
const maxCompiled = 32

const ranks = ['newly_blocked', 'no_longer_blocked', 'newly_asked', null] as const

/** Agents with the same policies share what is compiled for them. */
export function createImpact({ policies, agents, max_listed }: ImpactInput): ImpactReplay {
  const compiled = new Map<string, ReturnType<typeof compareTasks>>()
  const inTable = (indexes: readonly number[]) => indexes.flatMap((index) => policies[index] ?? [])
  const comparisonOf = ({ before, after }: ImpactInput['agents'][number]) => {
    const key = `${before.join(' ')} to ${after.join(' ')}`
    const compare = compiled.get(key) ?? compareTasks(inTable(before), inTable(after))
    // The least recently used one stays first.
    compiled.delete(key)
    compiled.set(key, compare)
    const [oldest = ''] = compiled.keys()
    if (compiled.size > maxCompiled) compiled.delete(oldest)
    return compare
  }
  const all = newCounts()
  const counts = agents.map(newCounts)
  const first_flips = createList<FirstFlip>(max_listed)
  return {
    add: (agent, steps) => {
      const [one, own] = [agents[agent], counts[agent]]
      if (one === undefined || own === undefined) throw new Error(`no agent ${agent}`)
      const { change, first_flip: flip, blocked_step } = comparisonOf(one)(steps, one.facts)
      for (const sum of [all, own]) {
        sum.tasks += 1
        sum.steps += steps.length
        if (flip !== null) sum.flipped_tasks += 1
        if (change !== null) sum[`${change}_tasks`] += 1
      }
      if (flip !== null)
        first_flips.add(ranks.indexOf(change), () => ({ agent, change, flip: { ...flip, source: null }, blocked_step }))
    },
    finish: () => ({ ...all, agents: counts, first_flips: first_flips.result() }),
  }
}

function newCounts(): { -readonly [name in keyof TaskCounts]: number } {
  return {
    tasks: 0,
    steps: 0,
    flipped_tasks: 0,
    newly_blocked_tasks: 0,
    newly_asked_tasks: 0,
    no_longer_blocked_tasks: 0,
  }
}
