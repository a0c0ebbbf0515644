// The control matrix states evidence and gaps, and gives no opinion.
import { describe, expect, it } from 'vitest'
import { controlMatrix, frameworks } from '../../report/controls/controls.js'
import { controlIdOf } from '../../report/controls/tags.js'
import { reportData } from '../support/reports/report-data.js'

const definitions = frameworks.flatMap(({ controls }) => controls)
const data = reportData()
const rows = controlMatrix(data)
const row = (id: string, from = rows) => from.find(({ control_id }) => control_id === id)
const policy = (controls: readonly string[], changes = {}) =>
  ({ ...data.policies.rows[0], rule_type: 'current_is', controls, ...changes }) as (typeof data.policies.rows)[number]
const withPolicies = (...policies: (typeof data.policies.rows)[number][]) =>
  controlMatrix(reportData({ policies: { rows: policies, more: 0 } }))

describe('the list of controls', () => {
  it('has ids that are tokens of OSCAL, each once, and begin with the id of their framework', () => {
    const ids = definitions.map(({ control_id }) => control_id)
    expect(ids.filter((id) => !/^[a-z][a-z0-9.-]*$/.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, controls } of frameworks)
      expect(controls.filter(({ control_id }) => !control_id.startsWith(id))).toEqual([])
  })

  it('covers the frameworks that a report promises', () => {
    const ids = definitions.map(({ control_id }) => control_id)
    const promised = ['12.1', '12.2.a', '12.2.b', '12.2.c', '12.3', '14', '19.1', '26.2', '26.5', '26.6', '50.1']
    expect(ids).toEqual(expect.arrayContaining(promised.map((number) => `eu-ai-act-${number}`)))
    expect(ids).toEqual(expect.arrayContaining(['iso-42001-a.6.2.8', 'soc2-cc7.1', 'soc2-cc7.4', 'asi01', 'asi10']))
  })

  it('states a gap for every control, and claims nothing', () => {
    expect(rows.filter(({ gaps }) => gaps.length === 0)).toEqual([])
    expect(JSON.stringify([rows, frameworks])).not.toMatch(/complian|certif|guarantee|conforms/i)
  })

  it('names drafts as drafts, without evidence', () => {
    const drafts = rows.filter(({ draft }) => draft)
    expect(drafts.map(({ control_id, status }) => [control_id, status])).toEqual([
      ['pren-18229-1', 'not_covered'],
      ['iso-iec-dis-24970', 'not_covered'],
    ])
    for (const { gaps } of drafts) expect(gaps[0]).toContain('draft')
  })
})

describe('a tag of a policy', () => {
  it.each([
    ['EU-AI-Act:26(2)', 'eu-ai-act-26.2'],
    ['EU-AI-Act:14(4)(d)', 'eu-ai-act-14.4.d'],
    ['EU-AI-Act-14', 'eu-ai-act-14'],
    ['ISO-42001:A.6.2.8', 'iso-42001-a.6.2.8'],
    ['ISO/IEC 42001:A.6.2.8', 'iso-42001-a.6.2.8'],
    ['SOC 2:CC7.2', 'soc2-cc7.2'],
    ['SOC2-CC7.2', 'soc2-cc7.2'],
    ['ASI1', 'asi01'],
    ['ASI10', 'asi10'],
  ])('%s names %s', (tag, id) => {
    expect(controlIdOf(tag)).toBe(id)
    expect(row(id)).toBeDefined()
  })

  it('of a part counts for the whole, and one of the whole for no part', () => {
    const part = withPolicies(policy(['EU-AI-Act:14(4)(e)'], { name: 'stop' }))
    expect(row('eu-ai-act-14', part)?.evidence.join()).toContain('“stop”')
    const whole = withPolicies(policy(['EU-AI-Act:14'], { name: 'stop' }))
    expect(row('eu-ai-act-14.4.e', whole)?.status).toBe('no_evidence')
  })

  it('of another framework names no control here', () => {
    const tagged = withPolicies(policy(['GDPR:32', 'asi1x', '', 'EU-AI-Act:1', '__proto__', `(${'('.repeat(10_000)}`]))
    const known = tagged.filter(({ framework }) => framework !== 'Controls of the organization')
    expect(known.filter(({ evidence }) => evidence.join().includes('Policy'))).toEqual([])
  })
})

describe('the evidence', () => {
  it('of a policy says what it evaluated', () => {
    expect(row('asi02')?.evidence).toEqual([
      'Policy “refunds-above-500-need-approval” (enforced): applied to 240 of 12,360 steps of 3 agents, 14 violations, 1 of them waived.',
    ])
  })

  it('counts a policy by its rule too', () => {
    const limited = withPolicies(policy([], { name: 'rate', rule_type: 'step_rate_limit' }))
    expect(row('asi08', limited)?.evidence.join()).toContain('“rate”')
  })

  it('needs a policy that applied to a step', () => {
    const idle = row('asi03', withPolicies(policy(['ASI03'], { applied: 0, waived: 0, open_incidents: 0 })))
    expect(idle).toMatchObject({ status: 'no_evidence', evidence: [] })
    expect(idle?.problems).toEqual(['No policy for it applied to a step of the period.'])
  })

  it('is a few sentences, however many policies name a control', () => {
    const many = row('asi03', withPolicies(...Array.from({ length: 500 }, () => policy(['ASI03']))))
    expect(many?.evidence.length).toBeLessThanOrEqual(6)
    const longest = row('asi03', withPolicies(policy(['ASI03'], { name: '😀'.repeat(10_000) })))
    expect(longest?.evidence.join().length).toBeLessThan(300)
    expect(longest?.evidence.join().isWellFormed()).toBe(true)
  })

  it('is more than a whole record: controls on answers and detection need answers and policies', () => {
    const none = { count: 0, median_seconds: null, p90_seconds: null }
    const incidents = { ...data.incidents, time_to_review: none, time_to_resolve: none }
    const idle = controlMatrix(reportData({ incidents, policies: { rows: [], more: 0 } }))
    const ids = ['soc2-cc7.2', 'soc2-cc7.3', 'soc2-cc7.4', 'eu-ai-act-12.2.a', 'eu-ai-act-26.1', 'eu-ai-act-26.5']
    expect(ids.map((id) => row(id, idle)?.status)).toEqual(ids.map(() => 'no_evidence'))
    expect(row('eu-ai-act-12.1', idle)?.status).toBe('evidence')
    expect(row('soc2-cc7.2', idle)?.problems).toContain('No policy applied to a step of the period.')
  })

  it('of an empty period is absent everywhere', () => {
    const summary = { ...data.summary, steps: 0, tasks: 0, violations: 0, incidents_opened: 0, approvals_asked: 0 }
    const none = { count: 0, median_seconds: null, p90_seconds: null }
    const list = { rows: [], more: 0 }
    const empty = controlMatrix({
      ...data,
      summary,
      agents: list,
      policies: list,
      incidents: {
        counts: [],
        effects: { blocked: 0, executed: 0, unknown: 0 },
        time_to_review: none,
        time_to_resolve: none,
        list,
      },
      oversight: { ...data.oversight, changes: list },
    })
    expect(empty.filter(({ status }) => status === 'evidence')).toEqual([])
  })
})

/** Incidents of the sample are open, and it has no policy for these controls. */
const unended = '3 incidents without an end at the cut-off.'

describe('a problem of the period', () => {
  it('is a gap of the controls that it speaks against, before the gaps of every period', () => {
    const problems = { rows: [{ code: 'hash', log_index: 4, message: 'differs' }], more: 2 }
    const broken = controlMatrix(reportData({ integrity: { ...data.integrity, verdict: 'problems', problems } }))
    expect(row('eu-ai-act-12.1', broken)?.gaps[0]).toContain('found 3 problems')
    expect(row('eu-ai-act-26.5')?.problems).toEqual([
      '2 incidents had no answer at the cut-off.',
      '1 agent had time without enforcement: 1 h.',
      'For 1 d 1 h it is unknown whether policies were enforced.',
      unended,
    ])
  })

  it('is a retention of less than six months', () => {
    const short = controlMatrix(reportData({ retention: { ...data.retention, days: 183 } }))
    expect(row('eu-ai-act-19.1', short)?.problems[0]).toContain('183 days')
    expect(row('eu-ai-act-19.1')?.problems).toEqual([unended])
  })

  it('is a deletion of entries younger than six months', () => {
    const prunes = [
      {
        id: 'p',
        at: '2026-03-01T00:00:00.000Z',
        by: 'x',
        before: '2026-01-01T00:00:00.000Z',
        entries: 1,
        legal_basis: 'y',
      },
    ]
    const pruned = controlMatrix(reportData({ retention: { ...data.retention, prunes: { rows: prunes, more: 0 } } }))
    expect(row('eu-ai-act-26.6', pruned)?.problems).toEqual([
      '1 deletion reached entries younger than six months.',
      unended,
    ])
  })
})

describe('a policy that evaluates registrations', () => {
  const registered = { scope: 'agent_registration', steps: 0, applied: 0, violations: 0, incidents: 2 }
  const evidenceOf = (changes: object) =>
    row('eu-ai-act-26.2', withPolicies(policy(['EU-AI-Act:26(2)'], { ...registered, ...changes })))?.evidence.join(' ')

  it('is stated with its agents and incidents, and never with steps', () => {
    expect(evidenceOf({ agents: 3 })).toContain('evaluates registrations, in effect on 3 agents; 2 incidents opened.')
    expect(evidenceOf({ agents: 3 })).not.toMatch(/steps? of/)
  })

  it('gives no evidence where no agent had it', () => {
    expect(evidenceOf({ agents: 0 })).not.toContain('evaluates registrations')
  })
})

describe('a tag that no framework knows', () => {
  const named = policy(['ACME-7', 'EU-AI-Act-14', 'Acme internal: payments (4.2)'])
  const own = (from: ReturnType<typeof withPolicies>) =>
    from.filter(({ framework }) => framework === 'Controls of the organization')

  it('is a control of the organization, in a group after all others', () => {
    const found = withPolicies(named, policy(['acme-7'], { name: 'other' }))
    expect(own(found).map(({ title }) => title)).toEqual(['“ACME-7”', '“Acme internal: payments (4.2)”', '“acme-7”'])
    expect(found.slice(-3)).toEqual(own(found))
    for (const { control_id } of own(found)) expect(control_id).toMatch(/^own-[a-z0-9._-]+$/)
    expect(new Set(found.map(({ control_id }) => control_id)).size).toBe(found.length)
  })

  it('shows its policies only, and what it asks is a gap', () => {
    const [first] = own(withPolicies(named, policy(['SOC2:CC7.2'], { name: 'of another' })))
    expect(first?.evidence).toEqual([expect.stringContaining(named.name)])
    expect(first?.gaps).toContain('What the control asks is not known to svc: only its policies are shown.')
  })

  it('makes a group only if some tag is unknown', () => {
    expect(own(withPolicies(policy(['EU-AI-Act-14', 'ASI02'])))).toEqual([])
  })
})
