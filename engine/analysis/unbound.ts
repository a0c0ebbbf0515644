// Approvals that leave fields of the input open: a person approves some values, and the others can change afterwards.
import { quote } from '../check/quote.js'
import { type AnalysisFinding, type Examined, findingAbout } from './examined.js'

/** The finding on the fields that the approval of a policy binds; null where it binds the whole input, or nothing apart. */
export function unboundFinding(examined: Examined): AnalysisFinding | null {
  const { approval, rule_type, params = {} } = examined.policy
  const own = rule_type === 'gate_binds_action' ? params.binds : undefined
  const binds = approval?.binds ?? (own as readonly string[] | undefined)
  if (binds === undefined || binds === null || binds.includes('input')) return null
  const message = `its approval binds ${binds.map(quote).join(', ')}, and other fields of \`input\` can change after a person has approved: bind \`input\`, or leave \`binds\` out`
  return findingAbout('unbound-fields', examined, message)
}
