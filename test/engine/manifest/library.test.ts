// The default library: every manifest is valid, tested, free of contradictions, and cannot be evaded by another spelling.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseManifest, runTests, validateFiles } from '@svc/engine'
import { analyse, type ManifestTest, parseTestFile } from '@svc/engine/parts'
import { baseline, type LibraryFile, library } from '@svc/library'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const folder = new URL('../../../library/', import.meta.url)
const manifests = library.filter(({ path }) => !path.endsWith('.test.yaml'))
const files = library.map(({ path, text }) => ({ path, text, named: true }))
const { manifests: validated, findings } = validateFiles(files, { tests: 'required', coverage: true, now: 0 })

interface Evasion {
  readonly manifest: string
  readonly policy: string
  /** The name of a test of the manifest that violates the policy. */
  readonly test: string
  /** Changes of this test after which the policy must still be violated. */
  readonly spellings: readonly Readonly<Record<string, unknown>>[]
}

/** The full tests run the analysis, and every policy in other spellings; the fast ones a quarter of them. */
const all = process.env.SVC_WHOLE_LIBRARY === '1'

const evasions = parse(readFileSync(new URL('../../cases/library/evasions.yaml', import.meta.url), 'utf8'), {
  maxAliasCount: -1,
}) as Evasion[]

function readManifest({ path, text }: LibraryFile) {
  const { value, lines, positionOf } = parseManifest(text, path)
  if (value === null) throw new Error(`${path} cannot be read`)
  return { file: path, text, reading: { value, lines, positionOf } }
}

/** The tests in the manifest and those of the file beside it. */
function testsOf(path: string): readonly ManifestTest[] {
  const manifest = manifests.find((file) => file.path === path)
  const beside = library.find((file) => file.path === path.replace(/\.yaml$/, '.test.yaml'))
  const own = manifest === undefined ? [] : (readManifest(manifest).reading.value.tests ?? [])
  const names = manifest === undefined ? [] : readManifest(manifest).reading.value.policies.map(({ name }) => name)
  const others = beside === undefined ? [] : (parseTestFile(beside.text, beside.path, names).value ?? [])
  return [...(own as readonly ManifestTest[]), ...others]
}

/** Sets, removes (`(absent)`) or appends (`history.+`) parts of a test, by their paths. */
function spelt(test: ManifestTest, changes: Readonly<Record<string, unknown>>): ManifestTest {
  const copy = structuredClone({ ...test, history: test.history ?? [] }) as unknown as Record<string, unknown>
  for (const [path, value] of Object.entries(changes)) {
    const segments = path.split('.')
    const last = segments.pop() ?? ''
    const parent = segments.reduce<Record<string, unknown>>((map, name) => {
      map[name] ??= {}
      return map[name] as Record<string, unknown>
    }, copy)
    if (last === '+') (parent as unknown as unknown[]).push(value)
    else if (value === '(absent)') delete parent[last]
    else parent[last] = value
  }
  return { ...(copy as unknown as ManifestTest), expect: {} }
}

describe('the files of the library', () => {
  it('are all files of the folder, with their Git blob ids', () => {
    const there = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.yaml') && !/(^|\/)(dist|node_modules)\//.test(path))
    expect(library.map(({ path }) => path)).toEqual(there.sort())
    for (const { text, blob_sha } of library) {
      const bytes = Buffer.from(text)
      expect(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')).toBe(blob_sha)
    }
    expect(manifests).toContainEqual(baseline())
  })

  it.each(library)('$path names its licence and its schema', ({ path, text }) => {
    const [licence, schema] = text.split('\n')
    expect(licence).toBe('# SPDX-License-Identifier: Apache-2.0')
    const name = path.endsWith('.test.yaml') ? 'manifest-tests' : 'manifest'
    expect(schema).toBe(`# yaml-language-server: $schema=../../schemas/${name}.json`)
  })
})

it.each(manifests)('$path has a row in the README of the library', ({ path }) => {
  expect(readFileSync(new URL('README.md', folder), 'utf8')).toContain(`| [${path}](${path}) | `)
})

describe('the manifests', () => {
  it('are fourteen, without an error or a warning', () => {
    expect(validated).toHaveLength(14)
    expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([])
  })

  it('have names of their own', () => {
    expect(new Set(validated.map(({ value }) => value?.name)).size).toBe(14)
  })

  if (all)
    it('do not contradict each other, and leave a way to finish a task', () => {
      const { findings: together, goals } = analyse(manifests.map(readManifest))
      // A policy that two manifests share is useful in each of them alone.
      const others = together.filter(({ id, severity }) => severity !== 'info' && id !== 'duplicate-policy')
      expect(others).toEqual([])
      expect(goals.filter(({ path }) => path === null)).toEqual([])
    })
})

describe.each(manifests)('$path', (file) => {
  const { policies } = readManifest(file).reading.value
  const result = validated.find((one) => one.file === file.path)

  if (all)
    it('has no remark of `svc check`', () => {
      const { findings: alone } = analyse([readManifest(file)])
      expect(alone.map(({ id, message }) => `${id}: ${message}`)).toEqual([])
    })

  it('has tests that pass, and that violate and pass each policy', () => {
    expect(result?.tests.filter(({ passed }) => !passed).map(({ name, failures }) => [name, failures])).toEqual([])
    // A policy of the baseline is not applicable in the tests that do not violate it.
    const isCovered = (passed: number) => passed > 0 || file.path === baseline().path
    const untested = result?.coverage?.policies.filter(({ violated, passed }) => violated === 0 || !isCovered(passed))
    expect(untested?.map(({ name }) => name)).toEqual([])
  })

  it('describes each policy, and names its controls', () => {
    for (const { name, description = '', controls = [] } of policies) {
      expect(description.length, name).toBeGreaterThan(80)
      expect(controls.length, name).toBeGreaterThan(0)
      for (const control of controls) expect(control, name).toMatch(/^ASI\d\d$|^[A-Z0-9][\w-]+:[\w.()-]+$/)
    }
  })
})

describe('other spellings', () => {
  it.each(evasions.filter((_, index) => all || index % 4 === 0))(
    '$manifest: $policy',
    ({ manifest, policy, test: name, spellings }) => {
      const { value } = readManifest(manifests.find(({ path }) => path === manifest) as LibraryFile).reading
      const test = testsOf(manifest).find((one) => one.name === name)
      if (test === undefined) throw new Error(`${manifest} has no test \`${name}\``)
      const changes = [{}, ...spellings]
      const results = runTests(
        value,
        changes.map((one) => spelt(test, one)),
      )
      const missed = changes.filter((_, index) => !results[index]?.violated.includes(policy))
      expect(missed).toEqual([])
    },
  )

  it('are at least three for each policy that stops a step', () => {
    const stops = manifests
      .filter(({ path }) => path !== baseline().path)
      .flatMap((file) =>
        readManifest(file)
          .reading.value.policies.filter(
            ({ severity, mode = 'enforce' }) => severity === 'critical' && mode === 'enforce',
          )
          .map(({ name }) => `${file.path}: ${name}`),
      )
    const enough = new Set(
      evasions.filter(({ spellings }) => spellings.length >= 3).map(({ manifest, policy }) => `${manifest}: ${policy}`),
    )
    expect(stops.filter((name) => !enough.has(name))).toEqual([])
  })
})

describe('a file of the library', () => {
  // Readers of YAML 1.1, such as PyYAML, take `on`, `yes` and unquoted times for other values, and reject an anchor twice.
  it.each(library)('$path means the same to readers of YAML 1.1', ({ text }) => {
    const options = { maxAliasCount: -1 }
    expect(parse(text, { ...options, version: '1.1' })).toEqual(parse(text, options))
    const anchors = [...text.matchAll(/(?<=[\s[{,])&(\w+)/g)].map(([, name]) => name)
    expect(anchors.filter((name, index) => anchors.indexOf(name) !== index)).toEqual([])
  })

  it('loads in PyYAML', (context) => {
    const probe = spawnSync('python3', ['-c', 'import yaml'])
    if (probe.status !== 0) return context.skip('python3 with PyYAML is not installed')
    const paths = library.map(({ path }) => fileURLToPath(new URL(path, folder)))
    const program = 'import json, sys, yaml\nfor path in sys.argv[1:]: json.dumps(yaml.safe_load(open(path)))'
    expect(spawnSync('python3', ['-c', program, ...paths], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
  })
})
