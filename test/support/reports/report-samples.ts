// Reports that a renderer must survive: nothing at all, every list at its bound, text that is made to break it.

import type { ReportData } from '../../../report/content/report-data.js'
import type { GovernanceInterval } from '../../../report/governance/governance.js'
import { agentResult, governed, incidentResult, reportData } from './report-data.js'

const list = <T>(rows: readonly T[], more = 0) => ({ rows, more })
const none = list<never>([])

/** A period in which nothing was recorded, of a workspace without agents. */
export function emptyReport(): ReportData {
  const base = reportData()
  const durations = { count: 0, median_seconds: null, p90_seconds: null }
  return reportData({
    summary: {
      ...(Object.fromEntries(Object.keys(base.summary).map((key) => [key, 0])) as unknown as ReportData['summary']),
      outside: null,
    },
    integrity: {
      ...base.integrity,
      entries: { first: 1, end: 1 },
      cut_off: 1,
      checkpoint: { ...base.integrity.checkpoint, size: 1, keys: [] },
      checkpoints: none,
      leaves: {},
      rehashed: 0,
      rejudge: { steps: 0, possible: 0, others: [] },
    },
    activity: {
      interval: 'day',
      buckets: base.activity.buckets.map(({ from }) => ({ from, steps: 0, violations: 0, incidents: 0 })),
      step_types: {},
    },
    agents: none,
    policies: none,
    waivers: none,
    policy_changes: none,
    incidents: {
      counts: [],
      effects: { blocked: 0, executed: 0, unknown: 0 },
      time_to_review: durations,
      time_to_resolve: durations,
      list: none,
    },
    oversight: { approvals: none, changes: none, people: [], members: [], events: {} },
    retention: { days: 365, holds: none, erasures: none, prunes: none },
  })
}

const hour = 3_600_000
const at = (hours: number) => new Date(Date.parse('2026-03-01T00:00:00.000Z') + hours * hour).toISOString()

const repeated = <T>(count: number, row: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => row(index))

/** Lists with `size` rows each, and more that are not listed. */
export function largeReport(size = 500): ReportData {
  const base = reportData()
  const interval = (index: number): GovernanceInterval => ({
    from: at(index * 7),
    to: at(index * 7 + (index % 5)),
    state: index % 3 === 0 ? 'ungoverned' : 'unknown',
    reason: index % 3 === 0 ? 'all_dropped' : 'silent',
    instance_id: 'b3f6a1c2',
  })
  const governance = {
    ...governed,
    ungoverned_seconds: 70_000,
    unknown_seconds: 140_000,
    intervals: repeated(20, interval),
    more: 3,
  }
  const [policy] = base.policies.rows
  const [waiver] = base.waivers.rows
  const [changed] = base.policy_changes.rows
  const [approval] = base.oversight.approvals.rows
  const [change] = base.oversight.changes.rows
  const [hold] = base.retention.holds.rows
  const [erasure] = base.retention.erasures.rows
  if (!policy || !waiver || !changed || !approval || !change || !hold || !erasure)
    throw new Error('the sample lacks a row')
  return {
    ...base,
    integrity: {
      ...base.integrity,
      checkpoints: list(
        repeated(size, (index) => ({ size: index * 64, root: '3f'.repeat(32), published_at: at(index) })),
        1_000,
      ),
    },
    activity: {
      interval: 'day',
      buckets: repeated(366, (index) => ({
        from: at(24 * index),
        steps: (index * 37) % 1_900,
        violations: index % 7,
        incidents: index % 3,
      })),
      step_types: Object.fromEntries(repeated(40, (index) => [`step.kind_${index}`, 4_000 - 90 * index])),
    },
    agents: list(
      repeated(size, (index) => agentResult(index, index % 4 === 0 ? { governance } : {})),
      80,
    ),
    policies: list(
      repeated(size, (index) => ({ ...policy, name: `policy-${index}` })),
      12,
    ),
    waivers: list(
      repeated(Math.min(size, 200), () => waiver),
      5,
    ),
    policy_changes: list(
      repeated(size, () => changed),
      6,
    ),
    incidents: {
      ...base.incidents,
      list: list(
        repeated(size, (index) => incidentResult(index)),
        4_000,
      ),
    },
    oversight: {
      ...base.oversight,
      approvals: list(
        repeated(size, (index) => ({ ...approval, step: index })),
        7,
      ),
      changes: list(
        repeated(size, () => change),
        9,
      ),
    },
    retention: {
      ...base.retention,
      holds: list(
        repeated(50, (index) => ({ ...hold, id: `hold_${index}` })),
        1,
      ),
      erasures: list(
        repeated(size, (index) => ({ ...erasure, id: `era_${index}` })),
        2,
      ),
    },
  }
}

/** Each must come back from the PDF, but for spaces and for characters without a glyph, which come back as `U+XXXX`. */
export const hostileTexts: Readonly<Record<string, string>> = {
  markup: 'Fish & <b>"Chips"</b> \'&amp;\' ]]> -->',
  arabic: 'شركة التأمين العربية',
  hebrew: 'חברת הביטוח',
  mixed: 'Invoice (חשבונית 1234) for Acme',
  cyrillic: 'АВСЕ ABCE Привет',
  greek: 'Ωμέγα ΑΒΓ',
  accents: 'Zażółć gęślą jaźń — naïve café, Ångström',
  emoji: 'ok 😀 ❤ 🚀 ✓ → ★',
  chinese: '日本語',
  controls: 'a\u0007b\u001b[31mc\u200bd\u202ee\u0000f',
  lone: 'x\ud800y',
  ligatures: 'office ﬁﬂ affine',
  word: 'Wort'.repeat(12),
  math: '𝒜𝔅 ½ ∑ ≤',
  template: '{{title}} %s [link](javascript:1) <script>',
}

/** Texts that are longer than any table has room for. */
export const longName = 'n'.repeat(10_000)
export const longWord = 'w'.repeat(300)

/** As wide as letters get, so that rows become as tall as they can. */
const wide = 'W'.repeat(2_000)
const wideMove = (index: number) => ({ at: at(index), by: wide, from: 'open', to: 'active', note: wide }) as const

/** Hostile text wherever a report has text of others. */
export function hostileReport(): ReportData {
  const base = reportData()
  const texts = Object.values(hostileTexts)
  const text = (index: number) => texts[index % texts.length] ?? ''
  const [policy] = base.policies.rows
  const [waiver] = base.waivers.rows
  const [changed] = base.policy_changes.rows
  if (!policy || !waiver || !changed) throw new Error('the sample lacks a row')
  return {
    ...base,
    report: { ...base.report, organization: hostileTexts.markup ?? '' },
    agents: list([
      ...texts.map((name, index) => agentResult(index, { name, purpose: text(index + 1), agent_key: longWord })),
      agentResult(90, { name: longName, purpose: longName }),
      agentResult(91, { name: longWord, purpose: null }),
      agentResult(92, { name: '\u0001'.repeat(500), purpose: '🚀'.repeat(500), risk_classification: longWord }),
      agentResult(93, { name: 'א'.repeat(300), purpose: 'שלום '.repeat(100) }),
    ]),
    policies: list(
      [...texts, longName, longWord].map((name, index) => ({
        ...policy,
        name,
        scope: text(index),
        controls: [text(index + 2), longWord],
        manifest: { name: text(index + 3), repo: longWord, path: longName, sha: 'a1'.repeat(20) },
      })),
    ),
    waivers: list(
      [...texts, longName, longWord, wide].map((reason, index) => ({
        ...waiver,
        policy_name: reason,
        agent_name: text(index + 1),
        reason,
        approved_by: reason,
        manifest: { name: text(index), repo: longWord, path: reason, sha: 'a1'.repeat(20) },
      })),
    ),
    policy_changes: list(
      [...texts, longName, longWord, wide].map((name, index) => ({
        ...changed,
        actor: name,
        approved_by: index % 2 === 0 ? name : null,
        manifest: { path: name, from_sha: null, to_sha: null },
        agents: repeated(20, () => ({ agent_id: longWord, agent_name: name })),
        more_agents: 3,
        policies: repeated(12, (at) => ({
          name,
          old_name: at === 0 ? name : null,
          change: 'looser' as const,
          values: [{ path: `params.${name}`, what: name, effect: 'looser' as const }],
        })),
      })),
    ),
    incidents: {
      ...base.incidents,
      list: list([
        incidentResult(99, {
          reason: wide,
          policy_name: wide,
          agent_name: wide,
          task_id: wide,
          history: repeated(20, wideMove),
        }),
        ...[...texts, longName, longWord, '\u0002'.repeat(900)].map((reason, index) =>
          incidentResult(index, {
            reason,
            policy_name: text(index + 1),
            agent_name: text(index + 2),
            task_id: index % 2 === 0 ? longWord : text(index),
            history: [
              { at: at(index), by: text(index), from: 'open', to: 'active', note: reason },
              { at: at(index + 1), by: longWord, from: 'active', to: 'resolved', note: '\u0003'.repeat(400) },
            ],
          }),
        ),
      ]),
    },
    activity: { ...base.activity, step_types: { 'step.model': 6, '<script>"&': 4, [longName]: 3, [text(1)]: 2 } },
  }
}
