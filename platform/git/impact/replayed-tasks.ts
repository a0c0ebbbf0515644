// The answers on recorded tasks. Agents with the same policies share what is compiled for them.
import { compareTasks } from '@svc/engine'
import { isMetadataOnly, stepsIn } from '../recorded/stored-steps.js'
import type { ReplayedTask, ReplayWork, StoredSteps } from './replay-messages.js'

/** Kept sets of compiled policies: about a megabyte each with a hundred policies. */
const maxCompiled = 32

export function answersOn({ policies, agents, max_listed }: ReplayWork): (task: StoredSteps) => ReplayedTask {
  const compiled = new Map<string, ReturnType<typeof compareTasks>>()
  const inTable = (indexes: readonly number[]) => indexes.flatMap((index) => policies[index] ?? [])
  const comparisonOf = ({ before, after }: ReplayWork['agents'][number]) => {
    const key = `${before.join(' ')} to ${after.join(' ')}`
    const compare = compiled.get(key) ?? compareTasks(inTable(before), inTable(after))
    // The least recently used one stays first.
    compiled.delete(key)
    compiled.set(key, compare)
    const [oldest = ''] = compiled.keys()
    if (compiled.size > maxCompiled) compiled.delete(oldest)
    return compare
  }
  const listed = { newly_blocked: 0, newly_asked: 0, no_longer_blocked: 0, none: 0 }
  return ({ agent: index, lines }) => {
    const agent = agents[index]
    if (agent === undefined) throw new Error(`no agent ${index}`)
    const steps = stepsIn(lines)
    if (isMetadataOnly(steps)) return 'metadata_only'
    const { change, first_flip, blocked_step } = comparisonOf(agent)(steps, agent.facts)
    const kind = change ?? 'none'
    const isListed = first_flip !== null && listed[kind] < max_listed
    if (isListed) listed[kind] += 1
    const flips = first_flip !== null
    return { steps: steps.length, change, flips, first_flip: isListed ? first_flip : null, blocked_step }
  }
}
