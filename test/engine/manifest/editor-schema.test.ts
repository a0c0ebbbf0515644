// The schemas for editors: which manifests they accept, and what their snippets insert.
import { readdirSync, readFileSync } from 'node:fs'
import { parseManifest, rules } from '@svc/engine'
import { createChecker, manifestSchema, parseTestFile, readYaml, testFileSchema } from '@svc/engine/parts'
import { documents, type JsonMap } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { approvalSnippet, policySnippet, testSnippet, waiverSnippet } from '../../../engine/manifest/editor/snippets.js'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const checkManifest = createChecker([manifestSchema()])('manifest.json')
const checkTests = createChecker([testFileSchema()])('manifest-tests.json')

const protections = readdirSync(new URL('test/protection/', root), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `test/protection/${name}/manifest.yaml`)
const libraryFiles = readdirSync(new URL('library/', root), { recursive: true, encoding: 'utf8' })
  .map((path) => `library/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.yaml') && !path.startsWith('library/dist/'))
const testFiles = libraryFiles.filter((path) => path.endsWith('.test.yaml'))
const manifests = [
  'test/cases/manifests/refund-desk.yaml',
  ...libraryFiles.filter((path) => !testFiles.includes(path)),
  ...protections,
]

/** The manifests inside a page: blocks of YAML, and here documents of shell examples. */
function manifestsIn(page: string): string[] {
  const blocks = [...page.matchAll(/```yaml\n(.*?)```|<<'END'\n(.*?)\nEND\n/gs)].map(
    ([, yaml, here]) => yaml ?? here ?? '',
  )
  return blocks.filter((text) => /^name:/m.test(text) && /^policies:/m.test(text))
}

const written = ['docs/policy-authors.md', 'docs/protecting-agents.md', 'docs/developers.md', 'README.md'].flatMap(
  (page) => manifestsIn(read(page)).map((text, index) => ({ at: `${page}, example ${index + 1}`, text })),
)

interface BrokenManifest {
  readonly name: string
  readonly text: string
  readonly errors: readonly { readonly id: string; readonly message: string }[]
}

/** Errors that follow from the schema of one value; the others compare values or read patterns. */
const isOfShape = ({ message }: { readonly message: string }) =>
  /^(`[^`]*`|the file) (is|must)\b|unknown (rule|parameter) |cannot be used at `\w+`: write/.test(message) &&
  !/inside each other|is not a calendar day/.test(message)

const shapeIds = ['missing-key', 'unknown-key', 'wrong-type', 'wrong-value', 'unknown-rule', 'wrong-scope']

const broken = ['errors.yaml', 'syntax.yaml']
  .flatMap((name) => parse(read(`test/cases/manifests/${name}`)) as BrokenManifest[])
  .filter(({ errors }) => errors.some((error) => shapeIds.includes(error.id) && isOfShape(error)))

describe('the schema of a manifest', () => {
  it('is the published one, and that of a test file too', () => {
    expect(documents.manifest).toEqual(manifestSchema())
    expect(documents['manifest-tests']).toEqual(testFileSchema())
  })

  it('is one file without references to others', () => {
    const references = [...JSON.stringify([manifestSchema(), testFileSchema()]).matchAll(/"\$ref":"(.)/g)]
    expect(references.length).toBeGreaterThan(50)
    expect(references.filter(([, first]) => first !== '#')).toEqual([])
  })

  it.each(manifests)('accepts %s', (path) => {
    expect(parseManifest(read(path), path).errors).toEqual([])
    expect(checkManifest(readYaml(read(path)).value)).toEqual([])
  })

  it.each(written)('accepts the manifest of $at', ({ at, text }) => {
    expect(parseManifest(text, at).errors).toEqual([])
    expect(checkManifest(readYaml(text).value)).toEqual([])
  })

  it.each(broken)('rejects $name', ({ text }) => {
    expect(checkManifest(readYaml(text).value)).not.toEqual([])
  })

  it.each(testFiles)('accepts %s', (path) => {
    expect(checkTests(readYaml(read(path)).value)).toEqual([])
  })

  it('accepts a test file, and rejects a misspelt key in it', () => {
    const text = read('test/cases/manifests/refund-desk.test.yaml')
    expect(checkTests(readYaml(text).value)).toEqual([])
    expect(checkTests(readYaml(text.replace('step_type:', 'step_typ:')).value)).not.toEqual([])
  })
})

describe('every parameter', () => {
  const all = rules.flatMap(({ name, params }) =>
    Object.entries(params.properties as Readonly<Record<string, JsonMap>>).map(([param, schema]) => ({
      param: `${name}.${param}`,
      schema,
    })),
  )

  it('has a description', () => {
    expect(all.length).toBeGreaterThan(200)
    expect(all.filter(({ schema }) => typeof schema.description !== 'string').map(({ param }) => param)).toEqual([])
  })
})

/** What an editor inserts when the author changes nothing: the first of the choices, and the defaults. */
function expanded(body: string): string {
  return body
    .replaceAll(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, '$1')
    .replaceAll(/\$\{\d+:((?:\\.|[^}\\])*)\}/g, '$1')
    .replaceAll(/(?<!\\)\$\d/g, '')
    .replaceAll(/\\([\\$}])/g, '$1')
}

const item = (text: string) => `  - ${text.trimEnd().replaceAll('\n', '\n    ')}\n`

function manifestOf(policy: string, rest = ''): string {
  return `name: A\nversion: "1"\npolicies:\n${item(policy)}${rest}`
}

describe('the snippets', () => {
  const [first] = rules
  if (first === undefined) throw new Error('there are no rules')
  const policy = expanded(policySnippet(first).bodyText)

  it.each(rules.map((rule) => [rule.name, rule] as const))('insert a valid policy: %s', (name, rule) => {
    const { value, errors, warnings } = parseManifest(manifestOf(expanded(policySnippet(rule).bodyText)), 'a.yaml')
    expect([errors, warnings]).toEqual([[], []])
    expect(value?.policies[0]).toMatchObject({ rule_type: name, params: rule.example })
  })

  it.each([
    ['a test', `tests:\n${item(expanded(testSnippet.bodyText))}`, 'tests'],
    ['a waiver', `waivers:\n${item(expanded(waiverSnippet.bodyText))}`, 'waivers'],
  ] as const)('insert %s', (_, rest, member) => {
    const { value, errors } = parseManifest(manifestOf(policy, rest), 'a.yaml')
    expect(errors).toEqual([])
    expect(value?.[member]).toHaveLength(1)
  })

  it('insert a test into a test file', () => {
    const { value, errors } = parseTestFile(`tests:\n${item(expanded(testSnippet.bodyText))}`, 'a.test.yaml', [])
    expect(errors).toEqual([])
    expect(value).toHaveLength(1)
  })

  it('insert an approval', () => {
    const rule = rules.find(({ name }) => name === 'current_is') ?? first
    const critical = expanded(policySnippet(rule).bodyText).replace('severity: medium', 'severity: critical')
    const text = manifestOf(`${critical}approval: ${expanded(approvalSnippet.bodyText)}`)
    const { value, errors } = parseManifest(text, 'a.yaml')
    expect(errors).toEqual([])
    expect(value?.policies[0]?.approval).toEqual({ check_type: 'human_approval', max_age_seconds: 3600 })
  })
})
