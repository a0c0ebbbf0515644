// Names and policies in the sentences of the control matrix, and how findings are joined.
import { count, counted } from '../content/figures.js'
import type { PolicyResult } from '../content/report-data.js'
import type { Found } from './definition.js'

const maxName = 60
const maxPolicies = 5

/** A name in quotation marks, cut by characters; renderers escape the rest. */
export function named(name: string): string {
  const characters = [...name.slice(0, 2 * maxName + 2)]
  return characters.length > maxName ? `“${characters.slice(0, maxName).join('')}…”` : `“${name}”`
}

/**
 * Evidence from policies that name a control: those that applied to steps, then those that evaluate registrations and were in effect,
 * and how many others there are.
 */
export function fromPolicies(policies: readonly PolicyResult[]): Found {
  const registers = policies.filter((policy) => isForRegistrations(policy) && policy.agents > 0)
  const active = policies.filter(({ applied }) => applied > 0).concat(registers)
  const evidence = active.slice(0, maxPolicies).map(policySentence)
  const others = active.length - evidence.length
  if (others > 0) evidence.push(`${counted(others, 'other policy', 'other policies')} for it in effect.`)
  const idle = policies.length - active.length
  if (idle > 0 && active.length > 0)
    evidence.push(`${counted(idle, 'policy', 'policies')} for it applied to no step of the period.`)
  return { evidence, problems: [], parts: [] }
}

const isForRegistrations = ({ scope }: PolicyResult) => scope === 'agent_registration'

function policySentence(policy: PolicyResult): string {
  const { name, mode, agents, steps, applied, violations, waived, incidents } = policy
  const effect = mode === 'enforce' ? 'enforced' : 'observed only, which never blocks'
  if (isForRegistrations(policy)) {
    const opened = counted(incidents, 'incident')
    return `Policy ${named(name)} (${effect}): evaluates registrations, in effect on ${counted(agents, 'agent')}; ${opened} opened.`
  }
  const waivers = waived > 0 ? `, ${counted(waived, 'of them waived', 'of them waived')}` : ''
  const found = `${counted(violations, 'violation')}${waivers}`
  return `Policy ${named(name)} (${effect}): applied to ${count(applied)} of ${counted(steps, 'step')} of ${counted(agents, 'agent')}, ${found}.`
}

export function both(...found: readonly Found[]): Found {
  return {
    evidence: found.flatMap(({ evidence }) => evidence),
    problems: found.flatMap(({ problems }) => problems),
    parts: [...new Set(found.flatMap(({ parts }) => parts))],
  }
}

/** The evidence of others only supports that of the control: alone it shows nothing of it. Problems count always. */
export function supported(main: Found, ...support: readonly Found[]): Found {
  if (main.evidence.length > 0) return both(main, ...support)
  const problems = support.map(({ problems, parts }) => ({ evidence: [], problems, parts }))
  return both(main, ...problems)
}
