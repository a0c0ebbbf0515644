// `svc validate`, `svc test` and `svc findings` in processes of their own.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finding } from '@svc/engine/parts'
import { afterAll, describe, expect, it } from 'vitest'
import { expectedFindings, invalidFolder, placesOf } from '../support/engine/invalid-manifests.js'
import { runSvc } from '../support/engine/serve.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-validate-'))
// Node removes no folder whose path is too long.
afterAll(() => execFileSync('rm', ['-rf', folder]))
const cases = fileURLToPath(new URL('../cases/manifests/', import.meta.url))
const file = (name: string, text: string) => {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const manifest = (rest = '', params = '{ field: input.amount, target_step_names: [refund] }') =>
  `name: Refunds\nversion: "1.0.0"\npolicies:\n  - name: Refunds have an amount\n    rule_type: field_not_empty\n    params: ${params}\n    scope: step_execution\n    severity: critical\n${rest}`
const test = (name: string, input: string, expectation: string) =>
  `  - name: ${name}\n    step: { step_type: step.resource, verb: POST, step_name: refund, input: ${input} }\n    expect: { ${expectation} }\n`
const tests = `tests:\n${test('no amount', '{}', 'action: block, violated: [Refunds have an amount]')}${test('an amount', '{ amount: 4 }', 'action: allow, violated: []')}`
const report = (out: string) => JSON.parse(out) as { valid: boolean; findings: Finding[] }

describe('svc validate', () => {
  it('finds in each invalid manifest what the core finds', async () => {
    const { code, out } = await runSvc(['test', invalidFolder, '--json'])
    const { findings } = report(out)
    const found = Object.fromEntries(
      Object.keys(expectedFindings).map((name) => [
        name,
        placesOf(findings.filter((finding) => basename(finding.file) === name)),
      ]),
    )
    expect(found).toEqual(expectedFindings)
    expect(code).toBe(1)
  })

  it('prints the place, the message, the id and the line', async () => {
    const path = file('slip.yaml', manifest('', '{ fields: input.amount }'))
    const { code, out, err } = await runSvc(['validate', path])
    expect([code, err]).toEqual([1, ''])
    expect(out).toBe(
      [
        `${path}:6:15 error: \`policies[0].params.fields\` is not a known key; did you mean \`field\`? [unknown-key]`,
        '    6 |     params: { fields: input.amount }',
        '      |               ^',
        '1 manifest, 0 valid policies: 1 error, 0 warnings',
        '',
      ].join('\n'),
    )
  })

  it('fails on warnings only with --strict', async () => {
    const path = file('warned.yaml', manifest().replace('"1.0.0"', '1.0'))
    expect((await runSvc(['validate', path])).code).toBe(0)
    expect((await runSvc(['validate', path, '--strict'])).code).toBe(1)
  })

  it.each(['validate', 'check'])(
    '%s names steps of the tests in a file beside the manifest without a target',
    async (command) => {
      const policy = manifest().replace(/^policies:[\s\S]*/m, '')
      const rule = 'rule_type: field_in_range, params: { field: input.amount, max: 9 }'
      file('beside/a.yaml', `${policy}policies: [{ name: A, ${rule}, scope: step_execution, severity: critical }]\n`)
      const step = '{ step_type: step.message, step_name: read_mail }'
      file('beside/a.test.yaml', `tests: [{ name: t, step: ${step}, expect: { violated: [A] } }]\n`)
      const { out } = await runSvc([command, join(folder, 'beside', 'a.yaml')])
      expect(out).toContain('in the tests `read_mail`')
    },
  )

  it('counts YAML files that are no manifests, and reports one whose `policies` is misspelt', async () => {
    file('mixed/good.yaml', manifest())
    file('mixed/other.yaml', 'on: push\njobs: {}\n')
    file('mixed/.hidden/bad.yaml', 'policies: [')
    expect((await runSvc(['validate', join(folder, 'mixed')])).out).toBe(
      '1 manifest, 1 valid policy: 0 errors, 0 warnings (1 other YAML file without policies)\n',
    )
    const misspelt = file('mixed/misspelt.yml', manifest().replace('policies:', 'polices:'))
    const { code, out } = await runSvc(['validate', join(folder, 'mixed')])
    expect([code, out]).toEqual([1, expect.stringContaining(`${misspelt}:3:1 error: \`polices\` is not a known key`)])
  })

  it.each([
    ['a file that does not exist', () => join(folder, 'missing.yaml'), 'unreadable-file'],
    ['a folder that cannot be read', () => tooDeep(), 'unreadable-file'],
    ['a folder without manifests', () => join(file('empty/readme.txt', ''), '..'), 'no-manifest'],
    ['a file that is not UTF-8', () => binaryFile(), 'unreadable-file'],
    ['tests without their manifest', () => file('lone/a.test.yaml', tests), 'lone-test-file'],
  ])('fails on %s', async (_, path, id) => {
    const { code, out } = await runSvc(['validate', path(), '--json'])
    expect([code, report(out).valid]).toEqual([1, false])
    expect(report(out).findings.map((finding) => finding.id)).toContain(id)
  })

  it('keeps text of a manifest that could control a terminal out of its output', async () => {
    const path = file(
      'hostile.yaml',
      manifest().replace('name: Refunds have', 'name: "\\e[31mRefunds\\nhave'.concat('"\n    x: "')),
    )
    const { out } = await runSvc(['validate', path])
    expect(out).not.toContain('\u001b')
  })

  it('explains its usage', async () => {
    const { code, err } = await runSvc(['validate'])
    expect([code, err]).toEqual([2, expect.stringContaining("missing required argument 'path'")])
  })
})

/** A folder with a manifest, and with folders so deep that the system opens none by such a path. */
function tooDeep(): string {
  file('deep/a.yaml', manifest())
  const script = 'for i in $(seq 18); do mkdir "$1" && cd -P "$1" || exit 1; done'
  execFileSync('sh', ['-c', script, 'sh', 'a'.repeat(250)], { cwd: join(folder, 'deep') })
  return join(folder, 'deep')
}

function binaryFile(): string {
  const path = join(folder, 'latin1.yaml')
  writeFileSync(path, Buffer.from([0x6e, 0x61, 0x6d, 0x65, 0x3a, 0x20, 0xe4, 0x0a]))
  return path
}

describe('svc test', () => {
  it('passes, with the coverage of policies', async () => {
    const path = file('tested.yaml', manifest(tests))
    const { code, out } = await runSvc(['test', path, '--coverage'])
    expect(code).toBe(0)
    expect(out).toContain('coverage of')
    expect(out).toContain('100 % (2 of 2')
    expect(out).toContain('1 manifest, 2 tests: 2 passed, 0 failed')
  })

  it('shows expected, got, and the answer of every policy of a failed test', async () => {
    const { code, out } = await runSvc(['test', join(cases, 'refund-desk.test.yaml')])
    expect(code).toBe(1)
    expect(out).toContain('expected the action block, got allow')
    expect(out).toContain('violated, but not expected: `Refunds need a fresh approval`')
    expect(out).toContain('remedy: a passed step.gate')
    expect(out).toContain('1 manifest, 15 tests: 13 passed, 2 failed')
  })

  it('counts the conditions of a compound policy as parts to cover', async () => {
    const conditions =
      '{ conditions: [{ rule_type: field_not_empty, params: { field: input.amount, target_step_names: [refund] } }, { rule_type: history_contains, params: { step_type: step.gate } }] }'
    const path = file('any.yaml', manifest(tests, conditions).replace('field_not_empty\n', 'any_of\n'))
    const { out } = await runSvc(['test', path, '--coverage', '--json'])
    expect(report(out).findings.map(({ message }) => message)).toEqual([
      'no test passes `conditions[1]` of `Refunds have an amount`',
    ])
  })

  it.each([
    ['no test at all', () => [file('none.yaml', manifest())], 'no-tests'],
    ['an empty list of tests', () => [file('empty-tests.yaml', manifest('tests: []\n'))], 'no-tests'],
    [
      'a filter that selects nothing',
      () => [file('f.yaml', manifest(tests)), '--filter', 'amuont'],
      'no-matching-test',
    ],
    [
      'a manifest without tests, with --require-tests',
      () => [file('r.yaml', manifest()), '--require-tests'],
      'no-tests',
    ],
    ['an unknown policy in a file of tests', () => siblingOf('unknown', 'violated: [Refund]'), 'unknown-policy'],
  ])('fails on %s', async (_, args, id) => {
    const { code, out } = await runSvc(['test', ...args(), '--json'])
    expect([code, report(out).findings.map((finding) => finding.id)]).toEqual([1, [id]])
  })

  it('runs the tests that a filter selects', async () => {
    const { code, out } = await runSvc(['test', file('filtered.yaml', manifest(tests)), '--filter', 'an amount'])
    expect([code, out]).toEqual([0, expect.stringContaining('1 test: 1 passed')])
  })

  it('does not run the tests of a manifest with errors', async () => {
    const path = file('broken.yaml', manifest(tests, '{ field: 7 }'))
    const { code, out } = await runSvc(['test', path])
    expect([code, out]).toEqual([1, expect.stringContaining('not tested, because it has errors')])
  })
})

function siblingOf(name: string, expectation: string): string[] {
  const path = file(`${name}.yaml`, manifest())
  file(`${name}.test.yaml`, `tests:\n${test('one', '{}', expectation)}`)
  return [path]
}

describe('svc findings', () => {
  it('explains one, and suggests an id for another', async () => {
    const { code, out } = await runSvc(['findings', 'unknown-key'])
    expect([code, out]).toEqual([0, expect.stringContaining('What to do:')])
    const wrong = await runSvc(['findings', 'unknown-keys'])
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean `unknown-key`?')])
  })
})
