// The JSON Schema of a manifest, generated from the rule registry so that an editor knows every rule and its parameters.

import type { JsonMap } from '@svc/schemas'
import { rules } from '../rules/registry.js'
import { manifestShape } from './shape.js'

/** The schema of a manifest; published as schemas/manifest.json. */
export function manifestSchema(): JsonMap {
  const { policies, ...others } = manifestShape.properties as Record<string, JsonMap>
  const policy = policies?.items as JsonMap
  const fields = policy.properties as Record<string, JsonMap>
  const rule_type = { ...fields.rule_type, enum: rules.map((rule) => rule.name) }
  const items = { ...policy, properties: { ...fields, rule_type }, allOf: rules.map(perRule) }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'manifest.json',
    title: 'Manifest',
    description: 'A manifest: a file of policies, with waivers and tests.',
    ...manifestShape,
    properties: { ...others, policies: { ...policies, items } },
  }
}

function perRule(rule: (typeof rules)[number]): JsonMap {
  return {
    if: { properties: { rule_type: { const: rule.name } } },
    // biome-ignore lint/suspicious/noThenProperty: it is the JSON Schema keyword
    then: { properties: { params: { ...rule.params, description: rule.doc }, scope: { enum: rule.scopes } } },
  }
}
