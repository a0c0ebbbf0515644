// Formulas of the rules about fields, content and the agent.
import { canonicalType, type JsonMap } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { readHost } from '../rules/host.js'
import { all, either, never, together } from './formula.js'
import { byFact, byName, byNameWith, canonicalText, type Describe, type LeafFormulas } from './leaf.js'
import { type FieldFact, field, type HostsFact, named, opposite } from './literal.js'
import { factsOf } from './pattern-facts.js'
import { factPath, levelPath } from './universe.js'
import { isOneOf, matching, type ValueTest, within } from './value-test.js'

/** The field as a fact names it: at registration every path is one of the agent. */
function pathOf(path: unknown, at_registration: boolean): string {
  const name = String(path)
  const own = at_registration && !/^(agent|context)\./.test(name) ? `agent.${name}` : name
  return factPath(own, at_registration)
}

function passesWhen(path: string, test: ValueTest, negated = false): LeafFormulas {
  return byFact(field(path, { test, negated }))
}

const present = (path: string): FieldFact => field(path, { test: { op: 'present' }, negated: false })

/** More patterns than this are compared by their names only. */
const maxSearches = 40

export const fieldDescriptions: Readonly<Record<string, Describe>> = {
  field_not_empty: ({ field: path }, at) => passesWhen(pathOf(path, at), isOneOf(['', null], 'whole'), true),
  field_in_list: ({ field: path, values }, at) => {
    const listed = (values as readonly unknown[]).map((value) =>
      path === 'step_type' && typeof value === 'string' ? canonicalType(value) : value,
    )
    return passesWhen(pathOf(path, at), isOneOf(listed, 'every'))
  },
  field_matches_regex: ({ field: path, pattern }, at) =>
    passesWhen(pathOf(path, at), matching(String(pattern), 'whole')),
  field_in_range: ({ field: path, min, max }, at) => passesWhen(pathOf(path, at), within(min, max, 'whole')),
  length_at_most: ({ field: path, max }, at) => {
    const own = pathOf(path, at)
    return byNameWith(`length of ${own}`, { bounds: [Number(max)], fail: [present(own)] })
  },
  step_forbidden_for_classification: ({ agent_risk_classifications }) => forbiddenLevels(agent_risk_classifications),
  step_name_in_allowlist: (params) => {
    const { allowed, agent_field = 'declared_tools', tool_calls } = params
    if (tool_calls === true)
      return { ...byName('step_name_in_allowlist', params), applies: together([named('calls a tool that is checked')]) }
    if (Array.isArray(allowed))
      return { ...passesWhen('step_name', isOneOf(allowed, 'whole')), forbids: allowed.length === 0 }
    const listed = named(`listed in ${agent_field}`)
    const name = present('step_name')
    return {
      passes: together([listed, name]),
      fails: either(together([opposite(listed)]), together([opposite(name)])),
    }
  },
  domain_allowlist: ({ allowed_domains, field: path = 'target.host' }) => {
    const own = pathOf(path, false)
    const hosts: HostsFact = { kind: 'hosts', path: own, allowed: hostsOf(allowed_domains), negated: false }
    const has_hosts = together([named(`hosts in ${own}`), present(own)])
    return { ...byFact(hosts), applies: has_hosts, forbids: hosts.allowed.length === 0 }
  },
  pii_in_request: (params) => {
    const { patterns, fields = ['input', 'exec.command'] } = params as { patterns: string[]; fields?: string[] }
    const possible = patterns.filter((pattern) => !factsOf(pattern, false).never)
    if (possible.length * fields.length > maxSearches) return byName('pii_in_request', params)
    const found = fields.flatMap((path) => possible.map((pattern) => named(foundName(pattern, path, true))))
    return {
      ...(possible.length === 0 && { note: 'no text matches a pattern of the policy' }),
      passes: all(found.map((fact) => together([opposite(fact)]))),
      fails: either(...found.map((fact) => together([fact]))),
    }
  },
  argument_matches: ({ field: path, pattern, found = true }) => {
    const { never: is_never } = factsOf(String(pattern), false)
    const fact = named(foundName(String(pattern), String(path), found === false))
    const [has, lacks] = [is_never ? never : together([fact, present(pathOf(path, false))]), together([opposite(fact)])]
    const note = is_never ? `no text matches ${quote(String(pattern))}` : undefined
    return {
      ...(note && { note }),
      ...(found === false ? { passes: lacks, fails: has } : { passes: has, fails: lacks }),
    }
  },
  stopped: () => ({ ...passesWhen('step_type', isOneOf(['task.end', 'task.error'], 'whole')), forbids: true }),
  path_within_root: (params) => {
    const own = pathOf(params.field, false)
    const read = together([named(`a root and ${own}`), present(own)])
    return { ...byName('path_within_root', { field: own }), applies: read }
  },
}

function foundName(pattern: string, path: string, with_keys: boolean): string {
  return `${with_keys ? 'found' : 'found in a value'} ${canonicalText([pattern, path])}`
}

/** The agent's level is not in the list. */
export function forbiddenLevels(levels: unknown): LeafFormulas {
  return { ...passesWhen(levelPath, isOneOf(levels as readonly unknown[], 'whole'), true), forbids: true }
}

function hostsOf(domains: unknown): string[] {
  return (domains as readonly string[]).flatMap((domain) => {
    const read = readHost(domain)
    return read?.kind === 'host' ? [read.host] : []
  })
}

/** The parameters without the target, as a rule of which only these are compared has them. */
export function ownParams(params: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(params).filter(([key]) => !key.startsWith('target_')))
}
