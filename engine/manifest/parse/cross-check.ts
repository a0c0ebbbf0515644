// Checks of a manifest that a schema cannot express: unique and existing names, calendar days, valid steps.
import { canonicalType, type Manifest, verbProblem, verbsOf } from '@svc/schemas'
import { didYouMean } from '../../check/nearest.js'
import { quote } from '../../check/quote.js'
import type { FindingId } from '../../findings/kinds.js'
import { waiverEnd } from '../agent/waiver-days.js'

export interface CrossProblem {
  readonly id: FindingId
  readonly path: readonly string[]
  readonly message: string
}

export type Indexed<T> = readonly (readonly [number, T])[]

type Policy = Manifest['policies'][number]
type Waiver = NonNullable<Manifest['waivers']>[number]
type Test = NonNullable<Manifest['tests']>[number]

/** The items of a manifest that have a valid shape, with their indexes in the file. */
export interface IndexedManifest {
  readonly policies: Indexed<Policy>
  readonly waivers: Indexed<Waiver>
  readonly tests: Indexed<Test>
}

/** Checks items against each other; `names` are the names of all policies, invalid ones included. */
export function crossCheck({ policies, waivers, tests }: IndexedManifest, names: ReadonlySet<string>): CrossProblem[] {
  return [
    ...duplicates(policies),
    ...waivers.flatMap(([index, waiver]) => waiverProblems(waiver, ['waivers', `${index}`], names)),
    ...tests.flatMap(([index, test]) => testProblems(test, ['tests', `${index}`], names)),
  ]
}

function duplicates(policies: Indexed<Policy>): CrossProblem[] {
  const seen = new Set<string>()
  return policies.flatMap(([index, { name }]): CrossProblem[] => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const path = ['policies', `${index}`, 'name']
    return [
      {
        id: 'duplicate-name',
        path,
        message: `another policy has the name ${quote(name)}: give each policy its own name`,
      },
    ]
  })
}

function waiverProblems({ policy, expires }: Waiver, path: string[], names: ReadonlySet<string>): CrossProblem[] {
  const message = `${quote(expires)} is not a calendar day: write a day such as 2027-01-31`
  return [
    ...unknown(policy, [...path, 'policy'], names),
    ...(waiverEnd(expires) === null ? [{ id: 'wrong-value' as const, path: [...path, 'expires'], message }] : []),
  ]
}

/** A test that names an unknown policy or an invalid step would pass by accident. */
function testProblems(test: Test, path: string[], names: ReadonlySet<string>): CrossProblem[] {
  const { agent, history, step, expect } = test
  const problem = (id: FindingId, at: string[], message: string) => ({ id, path: [...path, ...at], message })
  const verbs = [
    ...(history ?? []).map((past, index) => ({ past, at: ['history', `${index}`, 'verb'] })),
    ...(step === undefined ? [] : [{ past: step, at: ['step', 'verb'] }]),
  ].flatMap(({ past, at }) => {
    const message = wrongVerb(past)
    return message === null ? [] : [problem('wrong-value', at, message)]
  })
  return [
    ...(step === undefined && agent === undefined
      ? [problem('wrong-test', [], 'a test needs a `step` to evaluate, or an `agent` to register')]
      : []),
    ...(step === undefined && history !== undefined
      ? [problem('wrong-test', ['history'], 'a history needs a `step` after it')]
      : []),
    ...verbs,
    ...(expect.violated ?? []).flatMap((name, index) =>
      unknown(name, [...path, 'expect', 'violated', `${index}`], names),
    ),
  ]
}

function unknown(name: string, path: string[], names: ReadonlySet<string>): CrossProblem[] {
  if (names.has(name)) return []
  return [
    {
      id: 'unknown-policy',
      path,
      message: `no policy has the name ${quote(name)}${didYouMean(name, names) || listed(names)}`,
    },
  ]
}

const maxListed = 3

function listed(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, maxListed).map(quote)
  return shown.length === 0 ? '' : `; the policies are ${shown.join(', ')}${names.size > maxListed ? ', …' : ''}`
}

/** Step types outside the vocabulary take any verb. */
function wrongVerb(step: NonNullable<Test['step']>): string | null {
  const step_type = canonicalType(step.step_type)
  if (step.verb === undefined || !Object.hasOwn(verbsOf, step_type)) return null
  return verbProblem({ step_type, verb: step.verb })
}
