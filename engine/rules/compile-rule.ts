// From a rule's name and parameters to a check; everything wrong with them is found here, at load.
import { didYouMean } from '../nearest.js'
import { lazyCheck } from '../schema-check.js'
import type { JsonMap } from '../steps.js'
import { compileTree, isCombinator, postOrder, sharedScopes } from './compound.js'
import { type TargetFilter, targetKeys, withTarget } from './filter.js'
import { leafRules, paramsSchema, rules } from './registry.js'
import { type Check, type CompileEnvironment, ParameterError, type Scope } from './rule.js'

const byName = new Map(leafRules.map((rule) => [rule.name, { rule, check: lazyCheck(paramsSchema(rule)) }]))

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
  const { rule, check } = leafNamed(rule_type, path)
  const [problem] = check(params)
  if (problem !== undefined) {
    const where = problem.path.join('.')
    throw new ParameterError(
      inParams(path, where),
      `\`${rule_type}\`${where === '' ? '' : `, \`${where}\``}: ${problem.message}`,
    )
  }
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
