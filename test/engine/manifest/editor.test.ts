// Manifests in an editor: what the YAML language server completes, shows and marks with the published schema.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseManifest, rules } from '@svc/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Completion, type LanguageServer, startLanguageServer } from '../../support/engine/language-server.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const schema = (name: string) => join(root, 'schemas', name)

let server: LanguageServer
beforeAll(async () => {
  server = await startLanguageServer({ '/manifests/*.yaml': schema('manifest.json') })
})
afterAll(() => server.stop())

const head = 'name: A\nversion: "1"\npolicies:\n'
const policyWith = (rest: string) => `${head}  - name: P\n    ${rest.trimEnd().replaceAll('\n', '\n    ')}\n`
const labelsOf = (completions: readonly Completion[]) => completions.map(({ label }) => label)

function docOf({ documentation = '' }: Completion): string {
  return typeof documentation === 'string' ? documentation : documentation.value
}

const paramsOfMaxSteps = Object.keys(
  rules.find(({ name }) => name === 'execution_max_steps')?.params.properties as object,
)

describe('completion', () => {
  const inCondition = 'rule_type: any_of\nparams:\n  conditions:\n    - '

  it.each([
    ['a policy', 'rule_type: ¦'],
    ['a condition', `${inCondition}rule_type: ¦`],
  ])('offers every rule with its description, in %s', async (_, text) => {
    const found = await server.complete(policyWith(text))
    expect(found.map((one) => [one.label, docOf(one)])).toEqual(rules.map(({ name, doc }) => [name, doc]))
  })

  it.each([
    ['a policy', 'rule_type: execution_max_steps\nparams:\n  ¦'],
    ['a condition', `${inCondition}rule_type: execution_max_steps\n      params:\n        ¦`],
    [
      'a condition in a condition',
      `${inCondition}rule_type: not\n      params:\n        condition:\n          rule_type: execution_max_steps\n          params:\n            ¦`,
    ],
  ])('offers the parameters of the rule and no others, in %s', async (_, text) => {
    const found = await server.complete(policyWith(text))
    // Besides the parameters, an entry with the name of the rule inserts all that are required.
    expect(labelsOf(found).sort()).toEqual([...paramsOfMaxSteps, 'execution_max_steps'].sort())
    expect(found.filter((one) => docOf(one) === '')).toEqual([])
  })

  it.each([
    ['the scopes of the rule', 'rule_type: node_requires_predecessor\nscope: ¦', ['step_execution', 'task_execution']],
    ['every scope without a rule', 'scope: ¦', ['agent_registration', 'step_execution', 'task_execution']],
    ['the severities', 'severity: ¦', ['low', 'medium', 'high', 'critical']],
    ['the verbs', 'rule_type: step_requires_gate\nparams:\n  target_verbs: [¦]', ['GET', 'POST', 'PATCH', 'DELETE']],
    ['the days', 'rule_type: working_hours_only\nparams:\n  days:\n    - ¦', ['mon', 'tue', 'sun']],
    ['step types', 'rule_type: history_contains\nparams:\n  step_type: ¦', ['step.resource', 'step.gate']],
    ['fields', 'rule_type: field_not_empty\nparams:\n  field: ¦', ['target.host', 'content.trust']],
    ['fields of filters', 'rule_type: current_is\nparams:\n  property_filter:\n    ¦', ['target.host']],
    ['check types', 'rule_type: step_requires_gate\nparams:\n  gate_check_type: ¦', ['human_approval']],
  ])('offers %s', async (_, text, wanted) => {
    expect(labelsOf(await server.complete(policyWith(text)))).toEqual(expect.arrayContaining(wanted))
  })

  it('inserts a policy for a rule', async () => {
    const found = await server.complete(`${head}  - ¦\n`)
    const policy = found.find(({ label }) => label === 'policy: execution_max_steps')
    const inserted = (policy?.textEdit?.newText ?? policy?.insertText ?? '').trimEnd().replaceAll('\n', '\n    ')
    const text = `${head}  - ${inserted}\n`.replaceAll(/\$\{\d+(?::([^}]*)|\|(\w+)[^}]*)\}/g, '$1$2')
    expect(text).toContain('rule_type: execution_max_steps')
    expect(parseManifest(text, 'a.yaml').errors).toEqual([])
    expect(await server.diagnose(text)).toEqual([])
  })

  it.each([
    ['a test', `${head}tests:\n  - ¦\n`, 'test'],
    ['a waiver', `${head}waivers:\n  - ¦\n`, 'waiver'],
    ['an approval', policyWith('approval: ¦'), 'approval'],
  ])('inserts %s', async (_, text, label) => {
    expect(labelsOf(await server.complete(text))).toContain(label)
  })
})

describe('hover', () => {
  it.each([
    ['a rule', 'rule_type: execution_max_s¦teps', 'Passes when the history holds fewer than'],
    ['parameters', 'rule_type: execution_max_steps\npar¦ams: { max_steps: 3 }', 'Passes when the history holds'],
    ['a parameter', 'rule_type: execution_max_steps\nparams:\n  max_s¦teps: 3', 'inclusive; 0 allows none'],
    [
      'a parameter of a condition',
      'rule_type: not\nparams:\n  condition:\n    rule_type: execution_max_steps\n    params: { max_s¦teps: 3 }',
      'inclusive; 0 allows none',
    ],
    ['a scope', 'rule_type: execution_max_steps\nscope: step_exec¦ution', 'evaluates each step'],
  ])('describes %s', async (_, text, wanted) => {
    const shown = await server.hover(policyWith(text))
    expect(shown).toContain(wanted)
    expect(shown).not.toContain('field_not_empty')
  })
})

interface MarkedPolicy {
  readonly name: string
  readonly policy: string
  readonly marks: readonly { readonly line: number; readonly message: string }[]
}

describe('diagnostics', () => {
  const cases = parse(readFileSync(join(root, 'test/cases/editor.yaml'), 'utf8')) as MarkedPolicy[]

  it.concurrent.each(cases)('of $name', async ({ policy, marks }) => {
    const ending = /^scope:/m.test(policy) ? '' : 'scope: step_execution\nseverity: low\n'
    const found = await server.diagnose(policyWith(policy + ending))
    expect(found.map(({ range, message }) => ({ line: range.start.line - 2, message }))).toEqual(
      marks.map(({ line, message }) => ({ line, message: expect.stringContaining(message) })),
    )
  })

  it.each(['library/security/agentic-baseline.yaml', 'test/protection/hr/manifest.yaml'])(
    'of %s: none',
    async (path) => {
      const file = join(root, path)
      expect(await server.diagnose(readFileSync(file, 'utf8'), pathToFileURL(file).href)).toEqual([])
    },
  )
})

describe('a modeline', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-editor-'))
    mkdirSync(join(folder, 'schemas'))
    for (const name of ['manifest.json', 'manifest-tests.json']) cpSync(schema(name), join(folder, 'schemas', name))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    ['manifest.json', 'refunds.yaml', 'name: A\nversion: "1"\npolices: []\n', 'polices'],
    ['manifest-tests.json', 'refunds.test.yaml', 'tests: [{ name: a, expects: {} }]\n', 'expects'],
  ])('finds %s by a path relative to the file', async (name, file, text, misspelt) => {
    const uri = pathToFileURL(join(folder, file)).href
    const found = await server.diagnose(`# yaml-language-server: $schema=./schemas/${name}\n${text}`, uri)
    expect(found.map(({ message }) => message)).toContain(`Property ${misspelt} is not allowed.`)
  })
})
