// `svc init`: what it writes is valid, fully tested and known to editors; it overwrites nothing.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { manifestSchema, testFileSchema, validateText } from '@svc/engine/parts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startLanguageServer } from '../support/engine/language-server.js'
import { runSvc } from '../support/engine/serve.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-init-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const filesIn = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort()

const expectedFiles = [
  '.github/CODEOWNERS',
  '.github/workflows/policies.yml',
  '.svc/manifest-tests.schema.json',
  '.svc/manifest.schema.json',
  '.vscode/extensions.json',
  '.vscode/settings.json',
  'README.md',
  'inventory.yaml',
  'policies/refunds.yaml',
]

describe('svc init', () => {
  const made = join(folder, "with space and 'quote'")
  const inMade = (path: string) => readFileSync(join(made, path), 'utf8')
  let printed: Awaited<ReturnType<typeof runSvc>>
  beforeAll(async () => {
    printed = await runSvc(['init', made])
  })

  it('writes the files that it lists, and two commands that work when they are pasted', () => {
    const quoted = `'${join(made, 'policies').replaceAll("'", "'\\''")}'`
    expect([printed.code, printed.err, filesIn(made)]).toEqual([0, '', expectedFiles])
    for (const path of expectedFiles) expect(printed.out).toContain(`  ${path}\n`)
    expect(printed.out).toMatch(/\nNext:\n {2}\S.* validate .* --strict\n {2}\S.* test .* --coverage\n$/)
    expect(printed.out.split(quoted)).toHaveLength(3)
  })

  it('writes a manifest without a finding, whose tests violate and pass each policy', async () => {
    const options = { tests: 'required', coverage: true, now: Date.UTC(2027, 0) } as const
    const { manifests, findings } = validateText(inMade('policies/refunds.yaml'), 'refunds.yaml', options)
    expect(findings).toEqual([])
    expect(manifests[0]?.coverage).toMatchObject({ sides: 10, covered: 10 })
    expect(new Set(manifests[0]?.tests.map(({ outcome }) => outcome))).toEqual(
      new Set(['allow', 'ask', 'block', 'warn']),
    )
  })

  it('passes its own commands', async () => {
    expect((await runSvc(['validate', made, '--strict'])).code).toBe(0)
    const { code, out } = await runSvc(['test', made, '--coverage', '--require-tests', '--strict'])
    expect([code, out]).toEqual([0, expect.stringContaining(': 100 % (10 of 10')])
    expect(await runSvc(['check', join(made, 'policies')])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^no findings: 5 policies/),
    })
  })

  it('writes schemas that an editor finds from the manifest, without settings and without network', async () => {
    expect(JSON.parse(inMade('.svc/manifest.schema.json'))).toEqual(manifestSchema())
    expect(JSON.parse(inMade('.svc/manifest-tests.schema.json'))).toEqual(testFileSchema())
    const server = await startLanguageServer({})
    const path = pathToFileURL(join(made, 'policies/refunds.yaml')).href
    const text = inMade('policies/refunds.yaml')
    expect(await server.diagnose(text, path)).toEqual([])
    const [slip] = await server.diagnose(text.replace('severity: high', 'severity: hihg'), path.replace('refunds', 'b'))
    expect(slip?.message).toContain('"low", "medium", "high", "critical"')
    await server.stop()
  })

  it('writes settings, a workflow and an inventory that can be read', () => {
    expect(Object.keys(JSON.parse(inMade('.vscode/settings.json'))['yaml.schemas'])).toEqual([
      './.svc/manifest.schema.json',
      './.svc/manifest-tests.schema.json',
    ])
    const { jobs } = parse(inMade('.github/workflows/policies.yml')) as {
      jobs: { policies: { steps: { run?: string }[] } }
    }
    const commands = jobs.policies.steps.flatMap(({ run }) => run ?? []).filter((run) => run.startsWith('npx'))
    expect(commands).toHaveLength(3)
    for (const command of commands) expect(command).toMatch(/^npx --no-install svc (validate|test|check) policies\b/)
    const { agents } = parse(inMade('inventory.yaml')) as { agents: object[] }
    expect(agents).toEqual([
      {
        agent_key: 'refund-desk',
        name: 'Refund desk',
        risk_classification: 'limited',
        declared_tools: ['read_order', 'refund', 'send_mail'],
      },
    ])
    expect(inMade('README.md').trimEnd().split('\n')).toHaveLength(7)
  })

  it('writes nothing when one of its files exists, and names each', async () => {
    const other = join(folder, 'other')
    mkdirSync(join(other, '.github'), { recursive: true })
    writeFileSync(join(other, 'README.md'), 'mine')
    writeFileSync(join(other, 'notes.txt'), 'mine')
    symlinkSync(join(folder, 'nowhere'), join(other, '.github/CODEOWNERS'))
    const { code, out, err } = await runSvc(['init', other])
    expect([code, out, filesIn(other)]).toEqual([1, '', ['.github/CODEOWNERS', 'README.md', 'notes.txt']])
    expect(err).toBe(
      `svc init: nothing was written to \`${other}\`:\n  README.md exists\n  .github/CODEOWNERS exists\nmove them away, or name a new folder\n`,
    )
  })

  it('writes beside other files', async () => {
    const other = join(folder, 'beside')
    mkdirSync(other)
    writeFileSync(join(other, 'notes.txt'), 'mine')
    expect((await runSvc(['init', other])).code).toBe(0)
    expect(filesIn(other)).toEqual([...expectedFiles, 'notes.txt'].sort())
  })

  it.each([
    ['the folder is a file', 'file', 'it is not a folder'],
    ['a folder of it is a file', 'half', 'policies is not a folder'],
    ['a folder above it is a file', 'file/within', 'cannot be written'],
  ])('writes nothing when %s', async (_, name, message) => {
    writeFileSync(join(folder, 'file'), '')
    mkdirSync(join(folder, 'half'), { recursive: true })
    writeFileSync(join(folder, 'half/policies'), '')
    const { code, out, err } = await runSvc(['init', join(folder, name)])
    expect([code, out, err]).toEqual([1, '', expect.stringContaining(message)])
    expect(filesIn(join(folder, 'half'))).toEqual(['policies'])
  })

  it.each([
    [[], "missing required argument 'dir'"],
    [[''], 'the folder is empty text'],
  ])('explains its usage for %j', async (args, message) => {
    const { code, err } = await runSvc(['init', ...args])
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })
})
