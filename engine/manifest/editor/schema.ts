// The JSON Schemas of a manifest and of its test file, generated from the rule registry, so that an editor knows every rule
// and its parameters.
import type { JsonMap } from '@svc/schemas'
import { rules } from '../../rules/registry.js'
import { manifestShape, scopeSchema, testFileShape } from '../parse/shape.js'
import { ruleDefinitions, scopesByRule } from './rule-schemas.js'
import { approvalSnippet, policySnippet, type Snippet, testSnippet, waiverSnippet } from './snippets.js'
import { knownFields, reference, suggestions, withReferences } from './suggestions.js'

type Members = Readonly<Record<string, JsonMap>>

const manifestHead = head('manifest', 'Manifest', 'A manifest: a file of policies, with waivers and tests.')
const testsHead = head('manifest-tests', 'ManifestTests', 'The tests of a manifest, in a file beside it.')

/** The schema of a manifest for editors; published as schemas/manifest.json. */
export function manifestSchema(): JsonMap {
  const { properties, ...shape } = withReferences(manifestShape) as { properties: Members } & JsonMap
  const { policies, waivers, tests, ...others } = properties
  return {
    ...manifestHead,
    ...shape,
    properties: {
      ...others,
      policies: { ...policies, items: policySchema(policies?.items as JsonMap) },
      waivers: listOf('Waiver', waivers, waiverSnippet),
      tests: listOf('Test', tests, testSnippet),
    },
    $defs: ruleDefinitions(),
  }
}

/** The schema of a `<manifest>.test.yaml` for editors; published as schemas/manifest-tests.json. */
export function testFileSchema(): JsonMap {
  const { properties, ...shape } = withReferences(testFileShape) as { properties: Members } & JsonMap
  const { recorded_step_type, filter } = {
    ...suggestions,
    filter: { type: 'object', properties: knownFields },
  } as Members
  return {
    ...testsHead,
    ...shape,
    properties: { tests: listOf('Test', properties.tests, testSnippet) },
    $defs: { recorded_step_type, filter },
  }
}

/** The schemas from which the TypeScript types are generated: without anything that only editors read. */
export function plainSchemas(): readonly JsonMap[] {
  const { policies, ...others } = manifestShape.properties as Members
  const policy = policies?.items as JsonMap
  const rule_type = { ...(policy.properties as Members).rule_type, enum: rules.map(({ name }) => name) }
  const items = { ...policy, properties: { ...(policy.properties as Members), rule_type } }
  const properties = { ...others, policies: { ...policies, items } }
  return [
    { ...manifestHead, ...manifestShape, properties },
    { ...testsHead, ...testFileShape },
  ]
}

function head(name: string, title: string, description: string): JsonMap {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: `${name}.json`, title, description }
}

function policySchema(policy: JsonMap): JsonMap {
  const { scope, rule_type: _, ...others } = policy.properties as Members
  const approval = { ...others.approval, title: 'Approval', defaultSnippets: [approvalSnippet] }
  return {
    ...policy,
    title: 'Policy',
    properties: {
      ...others,
      rule_type: reference('rule_type'),
      // The description of the rule takes its place.
      params: { type: 'object' },
      scope: { type: 'string', description: scope?.description },
      approval,
    },
    allOf: [
      reference('params_by_rule'),
      ...scopesByRule(scopeSchema),
      { if: { required: ['rule_type'] }, else: { properties: { scope } } },
    ],
    defaultSnippets: rules.map(policySnippet),
  }
}

function listOf(title: string, list: JsonMap | undefined, snippet: Snippet): JsonMap {
  return { ...list, items: { ...(list?.items as JsonMap), title, defaultSnippets: [snippet] } }
}
