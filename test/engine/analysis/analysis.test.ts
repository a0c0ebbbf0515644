// The analysis of manifests: seeded faults are found, honest manifests have none, and each path can be walked.
import { readdirSync, readFileSync } from 'node:fs'
import { compile, Task } from '@svc/engine'
import { type Analysis, findingKinds, type Goal } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { analysisOf, casesIn, type Fault, type Honest, inputsOf, manifestOf } from '../../support/engine/analysis.js'

const faults = ['faults-alone.yaml', 'faults-together.yaml'].flatMap((file) => casesIn<Fault>(file))
const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const isFound = ({ findings }: Analysis, { id, policy, other = policy }: Fault['finds']) =>
  findings.some((finding) => {
    const names = [finding.policy, ...finding.others.map((one) => one.policy)]
    return finding.id === id && names.includes(policy) && names.includes(other)
  })

describe('seeded faults', () => {
  it('are found, at least nine of ten', () => {
    const missed = faults.filter((fault) => !isFound(analysisOf(manifestOf(fault)), fault.finds))
    console.log(`seeded faults: ${faults.length - missed.length} of ${faults.length} found`)
    expect(faults.length).toBeGreaterThanOrEqual(50)
    expect(missed.length * 10).toBeLessThanOrEqual(faults.length)
  })

  it('are the only ones in their manifests', () => {
    const others = faults.flatMap((fault) =>
      analysisOf(manifestOf(fault)).findings.flatMap(({ id, policy }) =>
        id === fault.finds.id ? [] : [`${fault.name}: ${id} ${policy}`],
      ),
    )
    expect(others).toEqual([])
  })

  it('leave only paths that can be walked', () => {
    for (const text of faults.map(manifestOf))
      for (const goal of analysisOf(text).goals) if (goal.path !== null) walk(text, goal)
  })

  it('name the line of both policies', () => {
    const fault = faults.find(({ finds }) => finds.id === 'contradiction')
    const [finding] = analysisOf(manifestOf(fault as Fault)).findings
    expect(finding?.line).toBeGreaterThan(finding?.others[0]?.line ?? 0)
    expect(finding?.message).toContain(`(line ${finding?.others[0]?.line})`)
  })
})

/** The YAML manifests in a page, here-documents included. */
const manifestsIn = (page: string) =>
  [...page.matchAll(/^(?:# .*\n)*name: .*\n(?:[a-z]+: .*\n)*policies:\n(?:[ #].*\n|\n(?= )|[a-z]+:\n)*/gm)].map(
    ([text]) => text,
  )

const pages = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md') && name !== 'findings.md')
const domains = ['banking', 'devops', 'hr', 'mail', 'shop'].map((name) => `test/protection/${name}/manifest.yaml`)
const paths = ['library/security/agentic-baseline.yaml', 'test/cases/manifests/refund-desk.yaml', ...domains]
const honest = [
  ...paths.map((path) => ({ name: path, text: read(path) })),
  ...pages.flatMap((page) =>
    manifestsIn(read(`docs/${page}`)).map((text, index) => ({ name: `${page} ${index + 1}`, text })),
  ),
  ...casesIn<Honest>('honest.yaml').map((one) => ({ name: one.name, text: manifestOf(one) })),
]

describe('honest manifests', () => {
  it('are many', () => {
    expect(honest.length).toBeGreaterThanOrEqual(32)
  })

  it.each(honest)('have no finding but on approvals of single fields: $name', ({ text }) => {
    const { findings, goals } = analysisOf(text)
    const others = findings.filter(({ id }) => id !== 'unbound-fields')
    expect(others.map(({ id, message }) => `${id}: ${message}`)).toEqual([])
    const { policies } = parse(text, { maxAliasCount: -1 }) as {
      policies: { approval?: { binds?: string[] }; params?: { binds?: string[] } }[]
    }
    const bound = policies.flatMap(({ approval, params }) => [approval?.binds, params?.binds])
    const isOpen = bound.some((binds) => binds !== undefined && !binds.includes('input'))
    expect(findings.length > others.length).toBe(isOpen)
    for (const goal of goals) if (goal.path !== null) walk(text, goal)
  })
})

/** Each step of the path is allowed, and the last one is the goal. */
function walk(text: string, { step, path }: Goal): void {
  const { steps = [], agent = {}, begin = 0 } = path ?? {}
  const task = new Task(compile(inputsOf(text, agent)))
  for (const [index, one] of steps.entries()) {
    const now = begin + index * 1000
    const decision = task.evaluate(one, agent, { now })
    expect(decision.blocked, `${step}: step ${index + 1} ${JSON.stringify(one)}: ${decision.reason}`).toBe(false)
    task.add(one, now)
  }
  const goal = steps.at(-1)
  expect([`named \`${goal?.step_name}\``, `\`${goal?.step_type}\``]).toContain(step)
}

describe('paths', () => {
  const text = manifestOf({
    name: 'Release',
    policies: [
      {
        name: 'Review first',
        rule_type: 'step_requires_predecessor',
        params: { required_step_type: { step_names: ['review'] }, target_step_names: ['release'] },
      },
      {
        name: 'Approved',
        rule_type: 'gate_binds_action',
        params: { gate_check_type: 'human_approval', target_step_names: ['release'] },
      },
      {
        name: 'Start first',
        rule_type: 'step_requires_predecessor',
        params: { required_step_type: 'task.start', target_step_types: ['step.resource'] },
      },
    ],
  })

  it('are the shortest, with the gates to record', () => {
    const { goals, findings } = analysisOf(text)
    const release = goals.find(({ step }) => step === 'named `release`')
    expect(findings).toEqual([])
    expect(release?.path?.steps.map(({ step_type }) => step_type)).toEqual([
      'task.start',
      'step.gate',
      'step.resource',
      'step.resource',
    ])
    for (const goal of goals) walk(text, goal)
  })
})

describe('the examples of docs/findings.md', () => {
  const kinds = findingKinds.filter(({ id }) => faults.some(({ finds }) => finds.id === id))

  it.each(kinds)('have the finding, and then not: $id', ({ id, wrong = '', right = '' }) => {
    expect(analysisOf(wrong).findings.map((finding) => finding.id)).toEqual([id])
    expect(analysisOf(right).findings).toEqual([])
  })

  it('are those of every kind that the seeded faults have', () => {
    expect(kinds).toHaveLength(7)
  })
})

describe('several manifests on one agent', () => {
  const [contradiction] = faults.filter(({ finds }) => finds.id === 'contradiction')
  const { policies = [], name = '' } = contradiction ?? {}

  it('contradict each other across files', () => {
    const texts = [policies.slice(0, 1), policies.slice(1)].map((part) => manifestOf({ name, policies: part }))
    const [finding] = analysisOf(...texts).findings
    expect(finding).toMatchObject({
      id: 'contradiction',
      file: 'manifest-2.yaml',
      others: [{ file: 'manifest-1.yaml' }],
    })
    expect(finding?.message).toContain('manifest-1.yaml:')
  })
})
