// A report as OSCAL: valid, complete, lossless, the same each time, and every reference in it resolves.
import { describe, expect, inject, it } from 'vitest'
import type { ReportData } from '../../report/content/report-data.js'
import { statementsOf, verdictOf } from '../../report/content/statements.js'
import { controlMatrix } from '../../report/controls/controls.js'
import { reportJson, reportXml } from '../../report/formats/oscal.js'
import { catalogJson } from '../../report/oscal/catalog.js'
import { property } from '../../report/oscal/properties.js'
import { decodeText } from '../../report/oscal/text.js'
import { partId, uuid5 } from '../../report/oscal/uuid.js'
import { hostileReport } from '../support/engine/nasty-text.js'
import {
  canValidate,
  contentOf,
  hasPython,
  propertiesOfJson,
  propertiesOfTree,
  schemaErrors,
  type Tree,
  treeByPython,
  treeByXmlJs,
} from '../support/reports/oscal.js'
import { agentResult, incidentResult, reportData } from '../support/reports/report-data.js'

const nothing = { rows: [], more: 0 }
const none = { count: 0, median_seconds: null, p90_seconds: null }
const sample = reportData()

function emptyReport(): ReportData {
  const { summary, integrity, activity, oversight, retention } = sample
  return {
    ...sample,
    report: { ...sample.report, agent_ids: [] },
    summary: Object.fromEntries(Object.keys(summary).map((key) => [key, 0])) as unknown as ReportData['summary'],
    integrity: {
      ...integrity,
      checkpoint: { ...integrity.checkpoint, note: '', keys: [] },
      checkpoints: nothing,
      leaves: {},
      rehashed: 0,
      rejudge: { steps: 0, possible: 0, others: [] },
    },
    activity: { ...activity, buckets: [], step_types: {} },
    agents: nothing,
    policies: nothing,
    incidents: {
      counts: [],
      effects: { blocked: 0, executed: 0, unknown: 0 },
      time_to_review: none,
      time_to_resolve: none,
      list: nothing,
    },
    oversight: { ...oversight, approvals: nothing, changes: nothing, members: [], events: {} },
    retention: { ...retention, holds: nothing, erasures: nothing, prunes: nothing },
  }
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index)

function largeReport(rows: number): ReportData {
  const interval = {
    from: sample.report.period.from,
    to: sample.report.as_of,
    state: 'unknown',
    reason: 'silent',
  } as const
  const intervals = times(4).map(() => ({ ...interval, instance_id: 'b3f6a1c2' }))
  const seconds = { governed_seconds: 1, ungoverned_seconds: 2, unknown_seconds: 3, idle_seconds: 4 }
  const governance = { ...seconds, intervals, more: 7 }
  const [policy] = sample.policies.rows
  const [approval] = sample.oversight.approvals.rows
  const [change] = sample.oversight.changes.rows
  const list = <T>(row: T | undefined) => ({ rows: row === undefined ? [] : times(rows).map(() => row), more: 5 })
  return reportData({
    agents: { rows: times(rows).map((index) => agentResult(index, { governance })), more: 5 },
    policies: list(policy),
    incidents: { ...sample.incidents, list: { rows: times(rows).map((index) => incidentResult(index)), more: 5 } },
    oversight: { ...sample.oversight, approvals: list(approval), changes: list(change) },
  })
}

const broken = reportData({
  integrity: {
    ...sample.integrity,
    verdict: 'problems',
    problems: { rows: [{ code: 'record.hash', log_index: null, message: 'differs' }], more: 1 },
  },
})
const ancient = reportData({
  report: { ...sample.report, period: { from: '0001-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' } },
})

const short: Readonly<Record<string, ReportData>> = { sample, empty: emptyReport(), 'hostile 0': hostileReport(0) }
/** oscal.full.test.ts runs this file with these too. */
const others = (): Readonly<Record<string, ReportData>> => ({
  problems: broken,
  'of every year': ancient,
  large: largeReport(120),
  'hostile and long': hostileReport(100, largeReport(12)),
  ...Object.fromEntries([1, 2, 3].map((seed) => [`hostile ${seed}`, hostileReport(seed)])),
})
const isFull = inject('project') === 'full'
const each = Object.entries({ ...short, ...(isFull && others()) })
const all = (tree: Tree): Tree[] => [tree, ...tree.children.flatMap(all)]
const named = (tree: Tree, name: string) => all(tree).filter((one) => one.name === name)
const textOf = (tree: Tree): string => tree.text + tree.children.map(textOf).join('')

describe.each(each)('the report %s', (_, data) => {
  const xml = reportXml(data)
  const tree = treeByXmlJs(xml)

  it.skipIf(!canValidate)('is valid against the schema of OSCAL (needs xmllint and the schema)', () => {
    expect(schemaErrors(xml)).toBe('')
  })

  it('holds every value of the content in its XML', () => {
    expect(contentOf(propertiesOfTree(tree))).toEqual(data)
  })

  it.skipIf(!hasPython)('is read by another parser as the same (needs python3)', () => {
    const { xmlns, ...attributes } = tree.attributes
    expect(xmlns).toBe('http://csrc.nist.gov/ns/oscal/1.0')
    expect(treeByPython(xml)).toEqual({ ...tree, attributes })
  })

  it('holds every value of the content in its JSON', () => {
    expect(contentOf(propertiesOfJson(JSON.parse(reportJson(data))))).toEqual(data)
  })

  it('is the same when it is made again', () => {
    expect(reportXml(structuredClone(data))).toBe(xml)
    expect(reportJson(structuredClone(data))).toBe(reportJson(data))
  })

  it('gives each id once, and refers to ids that it has', () => {
    const ids = all(tree).flatMap(({ attributes: { uuid } }) => uuid ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    const references = all(tree).flatMap(({ name, text, attributes }) => [
      ...['observation-uuid', 'subject-uuid', 'actor-uuid'].flatMap((key) => attributes[key] ?? []),
      ...(attributes.href?.startsWith('#') ? [attributes.href.slice(1)] : []),
      ...(name === 'party-uuid' ? [text] : []),
    ])
    expect(references.length).toBeGreaterThan(10)
    expect(references.filter((id) => !ids.includes(id))).toEqual([])
  })
})

describe('the result', () => {
  it('answers the questions of page 1', () => {
    const [description] = named(named(treeByXmlJs(reportXml(sample)), 'result')[0] as Tree, 'description')
    expect(description?.children.map(({ text }) => text)).toEqual([
      verdictOf(sample).text,
      ...statementsOf(sample).map(({ question, answer }) => `${question} ${answer}`),
    ])
  })
})

describe('findings', () => {
  const tree = treeByXmlJs(reportXml(sample))
  const bytes = named(tree, 'base64')[0]?.text ?? ''
  const { catalog } = JSON.parse(Buffer.from(bytes, 'base64').toString()) as {
    catalog: { groups: { controls: { id: string; parts: { id: string; name: string }[] }[] }[] }
  }
  const controls = catalog.groups.flatMap(({ controls }) => controls)
  const states = (data: ReportData) =>
    new Map(
      named(treeByXmlJs(reportXml(data)), 'target').map((target) => [
        target.attributes['target-id'],
        target.children[0]?.attributes.state,
      ]),
    )

  it('refer to controls and objectives of the catalog that the report holds', () => {
    expect(Buffer.from(bytes, 'base64').toString()).toBe(catalogJson())
    const ids = new Set(controls.flatMap(({ id, parts }) => [id, ...parts.map((part) => part.id)]))
    const used = [
      ...named(tree, 'target').map(({ attributes }) => attributes['target-id'] ?? ''),
      ...named(tree, 'include-control').map(({ attributes }) => attributes['control-id'] ?? ''),
      ...named(tree, 'include-objective').map(({ attributes }) => attributes['objective-id'] ?? ''),
      ...named(tree, 'prop').flatMap(({ attributes: { name, value } }) => (name === 'control-id' ? (value ?? '') : [])),
    ]
    expect(used.length).toBeGreaterThan(60)
    expect(used.filter((id) => !ids.has(id))).toEqual([])
  })

  it('are one for each control that svc covers; the others are named with their gaps', () => {
    const rows = controlMatrix(sample)
    const covered = rows.filter(({ status }) => status !== 'not_covered')
    expect(named(tree, 'finding').length).toBe(covered.length)
    expect([...states(sample).keys()].sort()).toEqual(covered.map(({ control_id }) => `${control_id}_obj`).sort())
    const text = textOf(named(tree, 'reviewed-controls')[0] as Tree)
    for (const { control_id } of rows.filter(({ status }) => status === 'not_covered'))
      expect(text).toContain(control_id)
  })

  it('are satisfied only with evidence, without a problem, and without an open incident', () => {
    const found = states(sample)
    for (const { control_id, status, problems } of controlMatrix(sample).filter((row) => row.status !== 'not_covered'))
      expect([control_id, found.get(`${control_id}_obj`)]).toEqual([
        control_id,
        status === 'evidence' && problems.length === 0 ? 'satisfied' : 'not-satisfied',
      ])
    expect(found.get('eu-ai-act-12.1_obj')).toBe('not-satisfied')
    const ended = reportData({ summary: { ...sample.summary, incidents_open: 0 } })
    expect(states(ended).get('eu-ai-act-12.1_obj')).toBe('satisfied')
    expect(states(broken).get('eu-ai-act-12.1_obj')).toBe('not-satisfied')
    expect([...states(emptyReport()).values()]).not.toContain('satisfied')
  })

  it('are evidence, and never an opinion', () => {
    expect(reportXml(sample)).not.toMatch(/complian/i)
    expect(named(tree, 'finding').filter((one) => !textOf(one).includes('not the opinion'))).toEqual([])
  })
})

describe('observations', () => {
  it('of incidents name the agent, and those without an end are risks', () => {
    const tree = treeByXmlJs(reportXml(sample))
    const risks = named(tree, 'risk').map((risk) => risk.children.find(({ name }) => name === 'status')?.text)
    const open = sample.incidents.list.rows.filter(({ state }) => state === 'open' || state === 'active')
    expect(risks.length).toBe(open.length)
    expect(new Set(risks)).toEqual(new Set(['open', 'investigating']))
    expect(named(tree, 'subject').length).toBeGreaterThan(open.length)
  })

  it('are one for each interval in which nothing was enforced', () => {
    const text = reportXml(sample)
    expect(text.match(/<title>Ungoverned time of agent/g)?.length).toBe(1)
    expect(text.match(/<title>Unknown time of agent/g)?.length).toBe(1)
  })
})

describe('the JSON', () => {
  it('shows the same titles as the XML, as Markdown', () => {
    const data = hostileReport(3)
    const titles = (value: unknown): string[] => {
      if (typeof value !== 'object' || value === null) return []
      const { title } = value as { title?: string }
      return [...(title === undefined ? [] : [title]), ...Object.values(value).flatMap(titles)]
    }
    const shown = titles(JSON.parse(reportJson(data))).map((title) => title.replace(/\\([!-/:-@[-`{-~])/g, '$1'))
    expect(shown.map(decodeText)).toEqual(
      named(treeByXmlJs(reportXml(data)), 'title').map(({ text }) => decodeText(text)),
    )
  })

  it('has no other characters at the ends of its strings than the schema accepts', () => {
    const strings = (value: unknown): string[] =>
      typeof value === 'string'
        ? [value]
        : typeof value === 'object' && value !== null
          ? Object.values(value).flatMap(strings)
          : []
    for (const seed of times(isFull ? 20 : 2)) {
      const found = strings(JSON.parse(reportJson(hostileReport(seed))))
      expect(found.filter((text) => /^\s|\s$|^$/.test(text))).toEqual([])
    }
  })
})

describe('a property', () => {
  it.each(['a b', '', '1a', 'A', 'é', 'a"'])('has no name `%s`', (name) => {
    expect(() => property(name, '')).toThrow(TypeError)
  })
})

describe('an id', () => {
  it('is version 5 of RFC 9562', () => {
    expect(uuid5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    )
  })

  it('differs for other documents and other parts', () => {
    expect(partId('a', 'b/c')).not.toBe(partId('a/b', 'c'))
    expect(partId('a', 'b')).toBe(partId('a', 'b'))
  })
})
