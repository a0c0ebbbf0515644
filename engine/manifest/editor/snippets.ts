// The snippets that an editor offers in a manifest, from the examples of the rules.
import type { JsonMap, Rule } from '@svc/schemas'
import { sharedScopes } from '../../rules/compound/compound.js'
import type { Scope } from '../../rules/form/rule.js'
import { rules } from '../../rules/registry.js'

/** A snippet as language servers read it: `$1` and `${1:default}` are places to fill in. */
export interface Snippet {
  readonly label: string
  readonly description: string
  readonly bodyText: string
}

const severityChoice = '|medium,low,high,critical|'

export const testSnippet: Snippet = {
  label: 'test',
  description: 'a step and the answer that is expected',
  bodyText: lines([
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the places of a snippet
    'name: ${1:what the test shows}',
    'step: { step_type: ${2:step.resource}, verb: ${3|GET,POST,PATCH,DELETE|}, step_name: ${4:refund} }',
    'expect: { action: ${5|allow,block|}, violated: [$6] }',
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the places of a snippet
  ]),
}

export const waiverSnippet: Snippet = {
  label: 'waiver',
  description: 'a policy that does not block one agent until a day',
  bodyText: lines([
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the places of a snippet
    'policy: ${1:name of the policy}',
    'agent_key: ${2:key of the agent}',
    'reason: ${3:why}',
    'approved_by: ${4:mia@example.org}',
    'expires: "${5:2027-01-31}"',
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the places of a snippet
  ]),
}

/** Written in the line of `approval:`. */
export const approvalSnippet: Snippet = {
  label: 'approval',
  description: 'a person approves the step that the policy would block; needs `severity: critical`',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the places of a snippet
  bodyText: '{ check_type: ${1:human_approval}, max_age_seconds: ${2:3600} }',
}

/** A policy with the rule and the parameters of its example. */
export function policySnippet(rule: Rule): Snippet {
  const params = Object.entries(rule.example).map(([name, value], index) => member(name, value, index + 2))
  const last = params.length + 2
  const text = lines([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the place of a snippet
    'name: ${1:name of the policy}',
    `rule_type: ${rule.name}`,
    'params:',
    ...params,
    `scope: ${choice(last, usableScopes(rule))}`,
    `severity: \${${last + 1}${severityChoice}}`,
  ])
  return { label: `policy: ${rule.name}`, description: rule.doc, bodyText: text }
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}

function choice(place: number, values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `\${${place}|${values.join()}|}`
}

/** A list of maps has a line for each; another value is a place to fill in. */
function member(name: string, value: unknown, place: number): string {
  if (!Array.isArray(value) || typeof value[0] !== 'object') return `  ${name}: \${${place}:${literal(flow(value))}}`
  return [`  ${name}:`, ...value.map((item) => `    - ${literal(flow(item))}`)].join('\n')
}

/** Text without meaning in a snippet. */
function literal(text: string): string {
  return text.replaceAll(/[\\$}]/g, '\\$&')
}

/** A value in one line of YAML. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, one]) => `${flow(key)}: ${flow(one)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  if (typeof value !== 'string') return String(value)
  return /^[A-Za-z_][\w./-]*$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`
}

/** The scopes at which the example of the rule can be used. */
function usableScopes({ example, scopes }: Pick<Rule, 'example' | 'scopes'>): readonly Scope[] {
  const { condition, conditions = condition === undefined ? [] : [condition] } = example as {
    condition?: JsonMap
    conditions?: JsonMap[]
  }
  const inner = conditions.map(({ rule_type }) => rules.find(({ name }) => name === rule_type)?.scopes ?? [])
  const usable = sharedScopes([scopes, ...inner])
  const targets = Object.keys(example).some((name) => name.startsWith('target_'))
  return targets ? usable.filter((scope) => scope !== 'agent_registration') : usable
}
