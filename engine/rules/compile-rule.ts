// From a rule's name and parameters to a check; everything wrong with them is found here, at load.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { didYouMean } from '../nearest.js'
import type { JsonMap } from '../steps.js'
import { compileTree, isCombinator, postOrder, sharedScopes } from './compound.js'
import { type TargetFilter, targetKeys, withTarget } from './filter.js'
import { leafRules, paramsSchema, rules } from './registry.js'
import { type Check, type CompileEnvironment, type LeafRule, ParameterError, type Scope } from './rule.js'

const byName = new Map(leafRules.map((rule) => [rule.name, { rule, validate: lazyValidator(rule) }]))

/** The scopes a rule can be used at; for a compound what all its leaves share. Throws ParameterError. */
export function scopesOf(rule_type: string, params: JsonMap): readonly Scope[] {
  const leaves = postOrder({ rule_type, params }).filter(({ node }) => !isCombinator(node.rule_type))
  return sharedScopes(leaves.map(({ node, path }) => leafNamed(node.rule_type, path).rule.scopes))
}

/** Compiles a rule with its parameters. Throws ParameterError whose path is relative to the policy's `params`. */
export function compileRule(rule_type: string, params: JsonMap, environment: CompileEnvironment): Check {
  const scopes = scopesOf(rule_type, params)
  if (!scopes.includes(environment.scope)) {
    const usable = scopes.length === 0 ? 'its conditions share no scope' : `it can at ${scopes.join(', ')}`
    throw new ParameterError('scope', `\`${rule_type}\` cannot be used at \`${environment.scope}\`; ${usable}`)
  }
  return compileTree({ rule_type, params }, (node, path) =>
    compileLeaf(node.rule_type, node.params ?? {}, path, environment),
  )
}

function compileLeaf(rule_type: string, params: JsonMap, path: string, environment: CompileEnvironment): Check {
  const { rule, validate } = leafNamed(rule_type, path)
  const problem = validate(params)
  if (problem !== null) throw new ParameterError(inParams(path, problem.path), problem.message)
  const target: TargetFilter = Object.fromEntries(
    targetKeys.flatMap((key) => (key in params ? [[key, params[key]]] : [])),
  )
  const [filtered] = Object.keys(target)
  if (environment.scope === 'agent_registration' && filtered !== undefined) {
    const message = 'a target filter selects steps, and there are none at `agent_registration`'
    throw new ParameterError(inParams(path, filtered), message)
  }
  try {
    return withTarget(target, rule.compile(params, environment))
  } catch (error) {
    throw error instanceof ParameterError ? new ParameterError(inParams(path, error.path), error.message) : error
  }
}

function leafNamed(name: string, path: string) {
  const known = byName.get(name)
  if (known !== undefined) return known
  const hint = didYouMean(
    name,
    rules.map((rule) => rule.name),
  )
  throw new ParameterError(path === '' ? 'rule_type' : `${path}.rule_type`, `unknown rule \`${name}\`${hint}`)
}

/** Where a parameter of the node at `path` stands, seen from the policy's `params`. */
function inParams(path: string, parameter: string): string {
  return [...(path === '' ? [] : [path, 'params']), ...(parameter === '' ? [] : [parameter])].join('.')
}

interface ParameterProblem {
  readonly path: string
  readonly message: string
}

/** Checks parameters against the rule's schema, which is compiled at the first use only. */
function lazyValidator(rule: LeafRule): (params: JsonMap) => ParameterProblem | null {
  let validate: ValidateFunction | undefined
  return (params) => {
    validate ??= new Ajv2020({ strict: false, allowUnionTypes: true }).compile(paramsSchema(rule))
    if (validate(params)) return null
    const [error] = validate.errors ?? []
    return error === undefined ? null : explain(rule, error)
  }
}

function explain(rule: LeafRule, error: ErrorObject): ParameterProblem {
  const where = error.instancePath.slice(1).replaceAll('/', '.')
  const inside = (key: string) => (where === '' ? key : `${where}.${key}`)
  if (error.keyword === 'additionalProperties') {
    const key = String(error.params['additionalProperty'])
    const known = Object.keys(paramsSchema(rule)['properties'] as JsonMap)
    return { path: inside(key), message: `unknown parameter \`${key}\` of \`${rule.name}\`${didYouMean(key, known)}` }
  }
  if (error.keyword === 'required') {
    const key = String(error.params['missingProperty'])
    return { path: where, message: `\`${rule.name}\` needs the parameter \`${inside(key)}\`` }
  }
  const allowed = error.keyword === 'enum' ? `: ${(error.params['allowedValues'] as unknown[]).join(', ')}` : ''
  return { path: where, message: `\`${where}\` of \`${rule.name}\` ${error.message ?? 'does not fit'}${allowed}` }
}
