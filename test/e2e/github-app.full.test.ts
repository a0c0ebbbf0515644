// The GitHub App as a company uses it: real processes, real repositories, and a GitHub of this machine that keeps the rules.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Company, openCompany } from '../demo/company.js'
import { type Begun, begin, completedCheck, merge, openLoosening, openTightening } from '../demo/story.js'

describe('a company with the App', () => {
  let company: Company
  let begun: Begun

  beforeAll(async () => {
    company = await openCompany({ has_airline: false })
    begun = await begin(company)
  })

  afterAll(() => company?.close())

  it('has its repository connected and its recorded runs stored', () => {
    expect(begun).toMatchObject({ runs: 30, steps: 402 })
    expect([...begun.agents.keys()].sort()).toEqual(['market-reporter', 'shop-coder', 'support-desk'])
  })

  it('sees which recorded tasks a tightened rule would block, at which step and by which line, and has it in force after the merge', async () => {
    const pull = openTightening(company)
    const check = await completedCheck(company, 'svc / policies', pull.head_sha)
    expect(check).toMatchObject({
      conclusion: 'success',
      title: 'Stricter: 4 of 14 recorded tasks would now be blocked, 2 would now wait for a person (1 agent)',
    })
    expect(check.summary).toContain('support-desk')
    for (const [task, step] of firstSteps) expect(check.summary).toMatch(rowOf(task, step))
    expect(
      check.annotations.map(({ path, start_line, annotation_level }) => [path, start_line, annotation_level]),
    ).toEqual([
      ['policies/support.yaml', 9, 'notice'],
      ['policies/support.yaml', 18, 'notice'],
    ])
    const merged = await merge(company, pull, 'support-desk', 'policies/support.yaml')
    const after = await completedCheck(company, 'svc / in force', merged.commit_sha)
    expect(after).toMatchObject({ conclusion: 'success' })
    expect(after.summary).toContain(merged.manifest_sha.slice(0, 7))
    expect(after.summary).toContain('stricter A person approves large refunds')
  })

  it('needs a named owner where the account of an agent takes protection away, and one approval is enough', async () => {
    const pull = openLoosening(company)
    const check = await completedCheck(company, 'svc / policies', pull.head_sha)
    expect(check).toMatchObject({ conclusion: 'action_required' })
    expect(check.title).toContain('1 of 8 recorded tasks would no longer be blocked')
    expect(check.summary).toContain('anna-lind')
    company.github.review(pull, { by: company.github.account('anna-lind'), state: 'approved' })
    const approved = await completedCheck(
      company,
      'svc / policies',
      pull.head_sha,
      ({ conclusion }) => conclusion === 'success',
    )
    expect(approved.id).toBe(check.id)
  })
})

/** The first step of each task whose outcome changes. */
const firstSteps = [
  ['support-2601-0201', 8],
  ['support-2601-0202', 7],
  ['support-2601-0203', 6],
  ['support-2601-0401', 22],
] as const

function rowOf(task: string, step: number): RegExp {
  return new RegExp(`${task}[^\\n]*\\| ${step}: step`)
}

describe('`npm run demo:github`', () => {
  it('tells the story and ends with `--once`', async () => {
    const program = fileURLToPath(new URL('../dist/demo/github.js', import.meta.url))
    const child = spawn(process.execPath, [program, '--once'], { stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
      })
    const [code] = await once(child, 'close')
    expect({ code, printed }).toMatchObject({ code: 0, printed: expect.stringContaining('svc / in force: success') })
    expect(printed).toMatch(/svc \/ policies: action_required: Approval required/)
  })
})
