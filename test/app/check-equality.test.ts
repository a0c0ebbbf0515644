// The check run reports what the action reports for the same files: findings, tests, and what becomes stricter or looser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DiffReport, Finding } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { readFacts } from '../../app/check/read-facts.js'
import { invalidManifests } from '../support/engine/invalid-manifests.js'
import { newWorkspace, runAction } from '../support/git/action.js'
import { checkWorld, type Files, noImpact, shas } from '../support/git/check-repository.js'

const textOf = (name: string) => readFileSync(new URL(`../cases/manifests/${name}`, import.meta.url), 'utf8')
const desk = textOf('refund-desk.yaml')

interface Json {
  readonly findings: readonly Finding[]
  readonly change: DiffReport
  readonly totals: { readonly tests_passed: number; readonly tests_failed: number }
}

async function both(base: Files, head: Files) {
  const { parts } = checkWorld({ base, head }, async () => Promise.reject(new Error('no agent')))
  const commits = { base_branch: 'main', tip_sha: shas.base, fork_sha: shas.base, head_sha: shas.head, is_fork: false }
  const repository = {
    id: 1,
    owner: 'acme',
    name: 'policies',
    branch: 'main',
    visibility: 'private' as const,
    assigned: new Set<string>(),
  }
  const facts = await readFacts({ ...parts, impactOf: async () => noImpact }, repository, commits, async () => null)
  const workspace = newWorkspace({ 'README.md': '', ...base })
  const commit = workspace.commit()
  workspace.git('rm', '-r', '-q', '.')
  workspace.write(head)
  runAction(workspace, { 'base-ref': commit, 'json-file': 'out/report.json' })
  const action = JSON.parse(readFileSync(join(workspace.folder, 'out/report.json'), 'utf8')) as Json
  return { facts, action }
}

describe('the check run and the action', () => {
  it('find the same in invalid manifests', async () => {
    const files = Object.fromEntries(invalidManifests.map(({ path, text }) => [path, text]))
    const { facts, action } = await both({}, files)
    expect(facts.validation.findings).toEqual(action.findings)
    expect(action.findings.length).toBeGreaterThan(50)
  })

  it('run the same tests and compare alike', async () => {
    const base = {
      'a.yaml': desk,
      'a.test.yaml': textOf('refund-desk.test.yaml'),
      'gone.yaml': desk.replace(/^name: .*/m, 'name: Gone'),
    }
    const head = {
      'moved/a.yaml': desk.replace('severity: critical', 'severity: low'),
      'moved/a.test.yaml': base['a.test.yaml'],
    }
    const { facts, action } = await both(base, head)
    expect(facts.validation.findings).toEqual(action.findings)
    const tests = facts.validation.manifests.flatMap((manifest) => manifest.tests)
    expect(tests.filter(({ passed }) => passed).length).toBe(action.totals.tests_passed)
    expect(tests.length).toBe(action.totals.tests_passed + action.totals.tests_failed)
    const { manifests, counts, compared } = facts.diff
    expect(JSON.parse(JSON.stringify({ manifests, counts, compared }))).toEqual({
      manifests: action.change.manifests,
      counts: action.change.counts,
      compared: action.change.compared,
    })
    expect(counts.looser + counts.removed).toBeGreaterThan(1)
    expect(facts.moves).toEqual([{ from: 'a.yaml', to: 'moved/a.yaml' }])
  })
})
