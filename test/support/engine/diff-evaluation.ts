// Checks the directions of the diff against evaluation: a stricter policy keeps every violation, a looser one adds none.
import { compile, type PolicySet, Task } from '@svc/engine'
import { diffManifests } from '@svc/engine/parts'
import type { Manifest } from '@svc/schemas'
import { policyDefaults } from './policy.js'
import { type Condition, type Given, numbers, type Pair, randomGiven, randomPair, timeOf } from './policy-pairs.js'

export interface Checked {
  /** Pairs by what the diff calls them; `invalid` are not policies. */
  readonly pairs: Record<string, number>
  /** Evaluations of a stricter or looser pair in which the old policy or the new one is violated, and in which they differ. */
  violated: number
  different: number
  /** Places at which evaluations of a pair with a direction differ. */
  readonly places: Map<string, number>
  /** Pairs whose direction is wrong, with the evaluation that shows it. */
  readonly wrong: string[]
}

const givenPerPair = 6

/** Checks pairs of random policies; each from one seed. */
export function checkPairs(first: number, count: number): Checked {
  const checked: Checked = { pairs: {}, violated: 0, different: 0, places: new Map(), wrong: [] }
  for (let seed = first; seed < first + count; seed++) {
    const random = numbers(seed * 7919 + 1)
    const pair = randomPair(random)
    const set = setOf(pair)
    const change = set.dropped.length > 0 ? 'invalid' : changeOf(pair)
    checked.pairs[change] = (checked.pairs[change] ?? 0) + 1
    if (change !== 'stricter' && change !== 'looser' && change !== 'none') continue
    for (let index = 0; index < givenPerPair; index++)
      checkOne(checked, { seed, change, ...pair }, set, randomGiven(random, rulesIn(pair), pair.scope))
  }
  return checked
}

function checkOne(checked: Checked, pair: Pair & { change: string; seed: number }, set: PolicySet, given: Given): void {
  const [old, next] = violatedBy(set, pair.scope, given)
  const { change, place } = pair
  if (old || next) checked.violated += 1
  if (old === next) return
  checked.different += 1
  checked.places.set(place, (checked.places.get(place) ?? 0) + 1)
  const isRight = change === 'stricter' ? next : change === 'looser' ? old : false
  if (!isRight) checked.wrong.push(JSON.stringify({ ...pair, given }))
}

/** What the diff calls the change of the pair. */
function changeOf(pair: Pair): string {
  const [change] = diffManifests(manifestWith(pair, pair.old), manifestWith(pair, pair.next)).policies
  return change?.change ?? 'none'
}

function manifestWith({ scope }: Pair, condition: Condition): Manifest {
  const policy = { name: 'P', severity: 'high', scope, ...condition } as unknown as Manifest['policies'][number]
  return { name: 'M', version: '1', policies: [policy] }
}

function setOf({ old, next, scope }: Pair): PolicySet {
  const inputs = [old, next].map((condition, index) => ({
    ...policyDefaults,
    ...condition,
    controls: [],
    scope,
    severity: 'high' as const,
    id: index + 1,
    name: `policy ${index}`,
  }))
  return compile(inputs as unknown as Parameters<typeof compile>[0])
}

/** Whether the old and the new policy are violated. */
function violatedBy(
  set: PolicySet,
  scope: Pair['scope'],
  { agent, context, history, step, now }: Given,
): [boolean, boolean] {
  const task = new Task(set)
  for (const one of history) task.add(one, timeOf(one.timestamp ?? ''))
  const occasion = scope === 'task_execution' ? 'last_step' : 'step'
  const [old, next] = task.evaluate(step, { ...agent, ...context }, { occasion, now: timeOf(now) }).policies
  return [old?.violated === true, next?.violated === true]
}

function rulesIn({ old }: Pair): string[] {
  return [...JSON.stringify(old).matchAll(/"rule_type":"(\w+)"/g)].map(([, rule = '']) => rule)
}
