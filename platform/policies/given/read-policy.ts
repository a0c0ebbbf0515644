// Reads the policy of a request by what the engine has for manifests, so that both take the same values with the same messages.
import { parseManifest, rules } from '@svc/engine'
import { didYouMean, type Finding } from '@svc/engine/parts'
import { hiddenCharacter, type JsonMap, type Manifest, type Policy } from '@svc/schemas'
import { type FieldError, invalid } from '../../errors.js'
import { membersIn, type WrittenPolicy, writtenMembers } from './members.js'
import { nameFrom } from './names.js'

export interface GivenPolicy {
  readonly policy: WrittenPolicy
  /** Words that no step has. */
  readonly warnings: NonNullable<Policy['warnings']>
}

const maxErrors = 50

/** The policy with every default. Throws INVALID naming every member that is wrong, by its path below `within`. */
export function readNewPolicy(body: unknown, within = ''): GivenPolicy {
  const errors: FieldError[] = []
  const sent = membersIn(mapIn(body, within), null, errors)
  const name = sent.name ?? nameFrom(sent.rule_type, sent.params)
  return checked({ ...sent, name }, errors, within)
}

/** A policy as it would be with the members of the body. Throws INVALID like `readNewPolicy`. */
export function readChangedPolicy(body: unknown, known: Policy): GivenPolicy {
  const errors: FieldError[] = []
  const own = Object.fromEntries(writtenMembers.map((name) => [name, known[name]])) as WrittenPolicy
  const sent = membersIn(mapIn(body, ''), known, errors)
  if (Object.keys(sent).some((name) => name !== 'enabled' && name !== 'mode'))
    return checked({ ...own, ...sent }, errors, '')
  // Can be set on every policy, also on one that an earlier release accepted and this one does not.
  const { enabled, mode } = checked({ ...harmless, ...sent }, errors, '').policy
  return { policy: { ...own, ...('enabled' in sent && { enabled }), ...('mode' in sent && { mode }) }, warnings: [] }
}

function mapIn(body: unknown, within: string): JsonMap {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as JsonMap
  throw invalid([{ path: within, message: 'must be an object with the members of a policy, such as `rule_type`' }])
}

function checked({ agent_id = null, ...members }: JsonMap, errors: FieldError[], within: string): GivenPolicy {
  const isText = typeof agent_id === 'string' && agent_id !== '' && hiddenCharacter(agent_id, 'line') === null
  if (agent_id !== null && !isText)
    errors.push({ path: 'agent_id', message: 'must be the id of an agent, as text: GET /api/v1/agents lists them' })
  // A description that is removed, and an approval that is, are null here, and absent in a manifest.
  const written = Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  )
  const { value, errors: found, warnings } = asManifest(written)
  const all = [...found, ...(found.length > 0 ? hiddenIn(written, found) : [])]
  const shown = [...all.map(fieldError), ...errors]
  if (shown.length > 0 || value === null)
    throw invalid(unique(shown).map((error) => ({ ...error, path: joined(within, error.path) })))
  const policy = value.policies[0] as Manifest['policies'][number]
  return {
    policy: { ...withDefaults(policy), agent_id: agent_id as string | null },
    warnings: warnings.map(fieldError).map(({ path, message }) => ({ path: joined(within, path), message })),
  }
}

function asManifest(policy: JsonMap) {
  const text = JSON.stringify({ name: 'policy', version: '1', policies: [policy] })
  // YAML reads JSON, but these characters only as escapes.
  return parseManifest(text.replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped), '')
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Problems of the rule and of the approval that the engine finds only once the other members are right. */
function hiddenIn(
  { rule_type, params = {}, scope, severity, approval }: JsonMap,
  found: readonly Finding[],
): Finding[] {
  const isNew = (pattern: RegExp) => !found.some(({ path }) => pattern.test(path))
  const own = rules.find(({ name }) => name === rule_type)?.scopes ?? []
  const isKnown = ['agent_registration', 'step_execution', 'task_execution'].includes(String(scope))
  const usable = isKnown ? scope : (own[0] ?? 'step_execution')
  const rule = { name: 'policy', severity: 'high', rule_type, params, scope: usable }
  const approved = { ...harmless, severity: severity ?? 'critical', scope: usable, approval }
  return [
    ...(isNew(ofRule) ? errorsOf(rule, isKnown ? ofRuleAndScope : ofRule) : []),
    ...(approval !== undefined && isNew(ofApproval) ? errorsOf(approved, ofApproval) : []),
  ]
}

function errorsOf(policy: JsonMap, within: RegExp): Finding[] {
  return asManifest(policy).errors.filter(({ path }) => within.test(path))
}

const harmless = {
  name: 'policy',
  rule_type: 'field_not_empty',
  params: { field: 'input.value' },
  scope: 'step_execution',
  severity: 'high',
}
const ofRuleAndScope = /^policies\.0\.(rule_type|params|scope)\b/
const ofApproval = /^policies\.0\.approval\b/
const ofRule = /^policies\.0\.(rule_type|params)\b/

function withDefaults(policy: Manifest['policies'][number]): Omit<WrittenPolicy, 'agent_id'> {
  const { name, rule_type, params = {}, scope, severity, enabled = true, mode = 'enforce', controls = [] } = policy
  const { description = null, risk_classification = null, approval = null } = policy
  const given = { name, rule_type, params, scope, severity, description, risk_classification, enabled, mode, controls }
  return { ...given, ...(approval !== null && { approval }) }
}

/** The path of the request; the message is a predicate of it, as in other answers. */
function fieldError({ id, path: found, message: sentence }: Finding): FieldError {
  const path = found.replace(/^policies\.0\.?/, '')
  if (id === 'unknown-key' && !path.includes('.')) return { path, message: unknownMember(path), id }
  const message = sentence.replaceAll('`policies[0].', '`').replace(/^`policies\[0\]`/, 'the policy')
  const [whole, subject = ''] = /^`([^`]+)`:? /.exec(message) ?? ['']
  const isOfPath = path !== '' && subject.replaceAll(/\[(\d+)\]/g, '.$1') === path
  // A missing member is named where it belongs, and not only the policy that lacks it.
  return { path: path === '' ? subject : path, message: isOfPath ? message.slice(whole.length) : message, id }
}

/** A request has members that a manifest has not. */
function unknownMember(name: string): string {
  return `is not a known key${didYouMean(name, writtenMembers) || `; allowed: ${writtenMembers.join(', ')}`}`
}

function unique(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [`${error.path} ${error.message}`, error])).values()].slice(0, maxErrors)
}

function joined(within: string, path: string): string {
  return [within, path].filter((part) => part !== '').join('.')
}
