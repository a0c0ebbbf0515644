// A step for which some facts are true, built from samples; the engine has to confirm it.
import { isMap } from '@svc/proof'
import { type Step, verbsOf } from '@svc/schemas'
import { passedGate } from '../rules/history/track.js'
import { choicesOf, type FieldFact } from './literal.js'
import { hostPath, universeOf } from './universe.js'
import { meets } from './value-test.js'
import { sampleOf } from './values.js'

type Writable = { [key: string]: unknown }

/** A step, and the agent whose fields the facts name; null where no sample was found. */
export function stepOf(facts: readonly FieldFact[]): { readonly step: Step; readonly agent: Writable } | null {
  const head = headOf(facts)
  if (head === null) return null
  const gate = head.step_type === 'step.gate' ? structuredClone(passedGate()) : {}
  const step: Writable = { ...gate, ...head }
  const agent: Writable = {}
  const at = (path: string) => facts.filter((fact) => fact.path === path)
  const paths = new Set(facts.map(({ path }) => path))
  for (const path of [...paths].sort()) {
    if (path === 'step_type' || path === 'verb' || path.includes('`')) continue
    const hosts = hostPath(path)
    const value = paths.has(hosts) ? sampleOf(at(hosts), universeOf(hosts)) : sampleOf(at(path), universeOf(path))
    if (value === undefined) return null
    if (value === null) continue
    const [first = '', ...rest] = path.split('.')
    const [root, segments] = first === 'agent' || first === 'context' ? [agent, rest] : [step, placeOf(first, rest)]
    if (!write(root, segments, value)) return null
  }
  return { step: step as unknown as Step, agent }
}

const knownTypes = Object.keys(verbsOf) as (keyof typeof verbsOf)[]
const usual = ['step.resource', 'step.message', 'step.exec', ...knownTypes]

/** A step type with a verb that it has. */
function headOf(facts: readonly FieldFact[]): { readonly step_type: string; readonly verb?: string } | null {
  const types = facts.filter(({ path }) => path === 'step_type')
  const verbs = facts.filter(({ path }) => path === 'verb')
  const listed = types.flatMap((fact) => choicesOf(fact) ?? [])
  const fits = (conditions: readonly FieldFact[], value: unknown) => conditions.every((one) => meets(one, value))
  for (const type of [...usual, ...listed, 'step.custom'].filter((one) => fits(types, one))) {
    const known = knownTypes.find((one) => one === type)
    const choices = known === undefined ? ['GET', 'POST', 'PATCH', 'DELETE'] : verbsOf[known]
    // A step that changes something is the more telling one.
    const verb = [...choices.filter((one) => one === 'POST'), ...choices, null].find((one) => fits(verbs, one))
    if (verb !== undefined) return { step_type: String(type), ...(verb !== null && { verb }) }
  }
  return null
}

const members = 'input output meta properties step_name is_external_call has_write_permission'.split(' ')

function placeOf(first: string, rest: readonly string[]): readonly string[] {
  return members.includes(first) ? [first, ...rest] : ['properties', first, ...rest]
}

/** Writes a value at a path; false where another value is in the way. */
function write(root: Writable, [first = '', ...rest]: readonly string[], value: unknown): boolean {
  if (rest.length === 0) {
    if (isMap(root[first]) && isMap(value)) Object.assign(root[first] as Writable, value)
    else root[first] = value
    return true
  }
  if (first in root && !(Object.hasOwn(root, first) && isMap(root[first]))) return false
  const inner = { ...(root[first] as Writable | undefined) }
  root[first] = inner
  return write(inner, rest, value)
}
