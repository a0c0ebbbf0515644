// The tags by which policies name controls: `EU-AI-Act:26(2)`, `EU-AI-Act-14`, `ISO-42001:A.6.2.8`, `SOC2:CC7.2`, `ASI01`.
import type { PolicyResult } from '../content/report-data.js'
import type { ControlDefinition } from './definition.js'

/** The id of the control that a tag of a policy names; ids of frameworks that no control belongs to are returned too. */
export function controlIdOf(tag: string): string {
  return tag
    .trim()
    .toLowerCase()
    .replace(/[\s:]+/g, '-')
    .replace(/\(([^()]*)\)/g, '.$1')
    .replace(/^iso(-|\/)iec-/, 'iso-')
    .replace(/^soc-2-/, 'soc2-')
    .replace(/^asi-?(\d+)$/, (_, number: string) => `asi${number.padStart(2, '0')}`)
}

/** Policies that name the control or a part of it, or whose rule belongs to it. A tag of the whole proves no part. */
export function policiesFor(control: ControlDefinition, policies: readonly PolicyResult[]): readonly PolicyResult[] {
  const { control_id, also = [], rule_types = [], tag: only } = control
  if (only !== undefined) return policies.filter(({ controls }) => controls.includes(only))
  const names = (id: string) => also.includes(id) || id === control_id || id.startsWith(`${control_id}.`)
  return policies.filter(
    ({ controls, rule_type }) => rule_types.includes(rule_type) || controls.some((tag) => names(controlIdOf(tag))),
  )
}
