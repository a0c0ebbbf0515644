// The meaning of rules about fields and the agent, as facts.
import { canonicalType, type JsonMap } from '@svc/schemas'
import { isUnder, readHost } from '../rules/values/host.js'
import type { Together } from './formula.js'
import { type Fact, type FieldFact, field, opposite } from './literal.js'
import { factPath, hostPath, levelPath, textPath } from './universe.js'
import { isEveryOneOf, isOneOf, isPresent, listed, matching, type ValueTest, within } from './value-test.js'

/** The conditions under which an applicable rule passes and fails: any of several lists of facts that are all true. */
export interface LeafFacts {
  /** Besides the target; exact. */
  readonly applies?: Together
  /** It may apply to other steps only, in a way that is not described. */
  readonly may_skip?: true
  readonly passes: readonly Together[]
  readonly fails: readonly Together[]
  /** The rule exists to forbid steps: that none passes is what the author wants. */
  readonly forbids?: boolean
}

/** The facts of a rule with its parameters, which are valid. */
export type Describe = (params: JsonMap, at_registration: boolean) => LeafFacts

/** Nothing is known. */
export const open: readonly Together[] = [[]]

/** A rule whose answer follows from one fact. */
export function byFact(fact: Fact): LeafFacts {
  return { passes: [[fact]], fails: [[opposite(fact)]] }
}

/** The field as a fact names it: at registration every path is one of the agent. */
function pathOf(path: unknown, at_registration: boolean): string {
  const name = String(path)
  const own = at_registration && !/^(agent|context)\./.test(name) ? `agent.${name}` : name
  return factPath(own)
}

function passesWhen(path: string, test: ValueTest, negated = false): LeafFacts {
  return byFact(field(path, { test, negated }))
}

const present = (path: string): FieldFact => field(path, { test: isPresent, negated: false })

export const fieldDescriptions: Readonly<Record<string, Describe>> = {
  field_not_empty: ({ field: path }, at) => passesWhen(pathOf(path, at), isOneOf(['', null]), true),
  field_in_list: ({ field: path, values }, at) => {
    const choices = (values as readonly unknown[]).map((value) =>
      path === 'step_type' && typeof value === 'string' ? canonicalType(value) : value,
    )
    return passesWhen(pathOf(path, at), isEveryOneOf(choices))
  },
  field_matches_regex: ({ field: path, pattern }, at) => passesWhen(pathOf(path, at), matching(String(pattern))),
  field_in_range: ({ field: path, min, max }, at) => passesWhen(pathOf(path, at), within(min, max)),
  step_forbidden_for_classification: ({ agent_risk_classifications }) => forbiddenLevels(agent_risk_classifications),
  step_name_in_allowlist: ({ allowed, tool_calls }) => {
    if (tool_calls === true) return { may_skip: true, passes: open, fails: open }
    if (!Array.isArray(allowed)) return { passes: [[present('step_name')]], fails: open }
    return { ...passesWhen('step_name', isOneOf(allowed)), forbids: allowed.length === 0 }
  },
  domain_allowlist: ({ allowed_domains, field: path = 'target.host' }) => {
    const own = pathOf(path, false)
    const allowed = hostsOf(allowed_domains)
    const host = field(hostPath(own), { test: underOneOf(allowed), negated: false })
    // A list may hold another host besides.
    return { may_skip: true, passes: [[host, present(own)]], fails: [[present(own)]], forbids: allowed.length === 0 }
  },
  argument_matches: ({ field: path, pattern, found = true }) => {
    const own = pathOf(path, false)
    const test = { ...matching(String(pattern)), lists: 'some' as const }
    const fact = field(textPath(own), { test, negated: false })
    const [has, lacks] = [[fact, present(own)], [opposite(fact)]]
    return found === false ? { passes: [lacks], fails: [has] } : { passes: [has], fails: [lacks] }
  },
}

/** The agent's level is not in the list. */
export function forbiddenLevels(levels: unknown): LeafFacts {
  return { ...passesWhen(levelPath, isOneOf(levels as readonly unknown[]), true), forbids: true }
}

function hostsOf(domains: unknown): string[] {
  return (domains as readonly string[]).flatMap((domain) => {
    const read = readHost(domain)
    return read?.kind === 'host' ? [read.host] : []
  })
}

function underOneOf(allowed: readonly string[]): ValueTest {
  const accepts = (host: unknown) => allowed.some((domain) => isUnder(String(host), domain))
  const words = [`is under ${listed(allowed)}`, `is not under ${listed(allowed)}`] as const
  return { accepts, lists: 'every', examples: allowed, words }
}
