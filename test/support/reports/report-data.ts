// A report as renderers receive it: small, with every section filled.

import type { AgentResult, IncidentResult, ReportData } from '../../../report/content/report-data.js'
import type { Governance } from '../../../report/governance/governance.js'

const root = '3f'.repeat(32)
const day = (n: number) => `2026-03-${String(n).padStart(2, '0')}T00:00:00.000Z`
const list = <T>(rows: readonly T[], more = 0) => ({ rows, more })

export const governed: Governance = {
  governed_seconds: 2_600_000,
  ungoverned_seconds: 0,
  unknown_seconds: 0,
  idle_seconds: 0,
  intervals: [],
  more: 0,
}

export function agentResult(index: number, changes: Partial<AgentResult> = {}): AgentResult {
  return {
    agent_id: `agt_${String(index).padStart(24, '0')}`,
    agent_key: `refund-desk-${index}`,
    name: `Refund desk ${index}`,
    purpose: 'Answers questions about refunds and books them',
    risk_classification: index % 3 === 0 ? 'high' : 'limited',
    environment: 'production',
    active: true,
    registered_at: day(1),
    tasks: 120 + index,
    steps: 4_100 + 10 * index,
    undecided_steps: 0,
    violations: 3 * index,
    incidents: index,
    first_step_at: day(1),
    last_step_at: day(30),
    governance: governed,
    ...changes,
  }
}

export function incidentResult(index: number, changes: Partial<IncidentResult> = {}): IncidentResult {
  return {
    id: `inc_${String(index).padStart(20, '0')}`,
    severity: (['critical', 'high', 'medium', 'low'] as const)[index % 4] ?? 'low',
    state: (['open', 'active', 'resolved', 'ignored'] as const)[index % 4] ?? 'open',
    mode: 'enforce',
    policy_name: 'refunds-above-500-need-approval',
    rule_type: 'human_approval_required',
    agent_id: 'agt_000000000000000000000001',
    agent_name: 'Refund desk 1',
    task_id: `case-${index}`,
    step: 7,
    opened_at: day(2 + (index % 20)),
    effect: (['blocked', 'executed', 'unknown'] as const)[index % 3] ?? null,
    reason: 'the refund of 740 exceeds 500 and no gate approved it',
    history:
      index % 4 < 2
        ? []
        : [
            {
              at: day(23),
              by: 'person:psn_1',
              from: 'open',
              to: 'resolved',
              note: 'refunded by hand, customer informed',
            },
          ],
    ...changes,
  }
}

/** `changes` replace whole sections. */
export function reportData(changes: Partial<ReportData> = {}): ReportData {
  return {
    report: {
      id: `rep_${'0123456789abcdef'.repeat(2)}`,
      format: 'pdf',
      org_id: 'org_1',
      organization: 'Acme Insurance',
      period: { from: day(1), to: '2026-04-01T00:00:00.000Z' },
      by: 'received',
      agent_ids: null,
      as_of: '2026-04-01T00:00:09.000Z',
      log_began: day(1),
      version: '0.19.0',
    },
    summary: {
      agents: 4,
      active_agents: 3,
      ungoverned_agents: 1,
      tasks: 366,
      steps: 12_360,
      decided_steps: 12_360,
      undecided_steps: 0,
      steps_in_violation: 17,
      critical_steps: 0,
      violations: 18,
      enforced: 14,
      observed: 3,
      waived: 1,
      incidents_opened: 6,
      incidents_unanswered: 2,
      incidents_open: 3,
      incidents_open_earlier: 0,
      incidents_unanswered_earlier: 0,
      unrecorded_decisions: 2,
      unrecorded_blocked: 2,
      unrecorded_allowed: 0,
      approvals_asked: 2,
      approvals_given: 1,
      approvals_missing: 1,
      approvals_blocked: 0,
      approvals_erased: 0,
      gates_erased: 0,
      steps_outside: 0,
      outside: null,
    },
    integrity: {
      verdict: 'whole',
      entries: { first: 120, end: 12_720 },
      cut_off: 12_800,
      checkpoint: {
        origin: 'log.example/org/org_1/1',
        size: 12_800,
        root,
        note: `log.example/org/org_1/1\n12800\nPz8/Pz8/Pz8/Pz8/Pz8/Pz8/Pz8/Pz8/Pz8/Pz8/Pz8=\n\n— log.example/org/org_1/1 RyJyanNpZ25hdHVyZQ==\n`,
        published_at: '2026-04-01T00:00:09.000Z',
        keys: [{ name: 'log.example/org/org_1/1', fingerprint: '4722738a6b1f0c9de8217a44c0ffee01' }],
      },
      checkpoints: list([{ size: 12_800, root, published_at: '2026-04-01T00:00:09.000Z' }], 240),
      leaves: { step: 12_360, event: 228, incident: 12 },
      rehashed: 12_600,
      erased: 0,
      pruned: 0,
      problems: list([]),
      rejudge: { steps: 12_360, possible: 12_300, others: [{ reason: 'task_began_earlier', steps: 60 }] },
    },
    activity: {
      interval: 'day',
      buckets: Array.from({ length: 31 }, (_, index) => ({
        from: day(index + 1),
        steps: 300 + 40 * ((index * 7) % 11),
        violations: index % 5 === 0 ? 3 : 0,
        incidents: index % 10 === 0 ? 2 : 0,
      })),
      step_types: { 'step.model': 6_000, 'step.message': 6_000, 'task.start': 180, 'task.end': 180 },
    },
    agents: list([
      agentResult(1),
      agentResult(2, {
        governance: {
          governed_seconds: 2_500_000,
          ungoverned_seconds: 3_600,
          unknown_seconds: 90_000,
          idle_seconds: 0,
          intervals: [
            {
              from: '2026-03-04T10:00:00.000Z',
              to: '2026-03-04T11:00:00.000Z',
              state: 'ungoverned',
              reason: 'unavailable',
              instance_id: 'b3f6a1c2',
            },
            {
              from: '2026-03-10T00:00:00.000Z',
              to: '2026-03-11T01:00:00.000Z',
              state: 'unknown',
              reason: 'silent',
              instance_id: 'b3f6a1c2',
            },
          ],
          more: 0,
        },
      }),
      agentResult(3),
      agentResult(4, {
        tasks: 0,
        steps: 0,
        violations: 0,
        incidents: 0,
        first_step_at: null,
        last_step_at: null,
        active: false,
      }),
    ]),
    policies: list([
      {
        name: 'refunds-above-500-need-approval',
        rule_type: 'human_approval_required',
        severity: 'high',
        mode: 'enforce',
        scope: 'step_execution',
        controls: ['EU-AI-Act-14', 'ASI02'],
        manifest: {
          name: 'refunds',
          repo: 'acme/agent-policies',
          path: 'manifests/refunds.yaml',
          sha: 'a1'.repeat(20),
        },
        agents: 3,
        steps: 12_360,
        applied: 240,
        violations: 14,
        waived: 1,
        unrecorded: 2,
        incidents: 6,
        open_incidents: 3,
      },
      {
        name: 'no-secrets-in-output',
        rule_type: 'pattern_forbidden',
        severity: 'critical',
        mode: 'observe',
        scope: 'step_execution',
        controls: [],
        manifest: null,
        agents: 3,
        steps: 12_360,
        applied: 6_000,
        violations: 3,
        waived: 0,
        unrecorded: 0,
        incidents: 0,
        open_incidents: 0,
      },
    ]),
    waivers: list([
      {
        policy_name: 'refunds-above-500-need-approval',
        agent_id: 'agt_000000000000000000000001',
        agent_name: 'Refund desk 1',
        manifest: {
          name: 'refunds',
          repo: 'acme/agent-policies',
          path: 'manifests/refunds.yaml',
          sha: 'a1'.repeat(20),
        },
        from: day(2),
        until: '2026-04-11T00:00:00.000Z',
        used: 1,
        reason: 'the till is replaced until April',
        approved_by: 'mia@acme.example',
      },
    ]),
    policy_changes: list([
      {
        at: day(8),
        last_at: day(8),
        kind: 'assignment.resynced',
        manifest: { path: 'manifests/refunds.yaml', from_sha: 'a0'.repeat(20), to_sha: 'a1'.repeat(20) },
        agents: [{ agent_id: 'agt_000000000000000000000001', agent_name: 'Refund desk 1' }],
        more_agents: 0,
        risk_classification: null,
        effect: 'looser',
        recorded: true,
        policies: [
          {
            name: 'refunds-above-500-need-approval',
            old_name: null,
            change: 'looser',
            values: [{ path: 'params.max', what: '300 → 500', effect: 'looser' }],
          },
        ],
        more_values: 0,
        commit_sha: 'c1'.repeat(20),
        actor: 'person:psn_1',
        held: true,
        approved_by: 'person:psn_1',
      },
    ]),
    incidents: {
      counts: [
        { severity: 'critical', state: 'open', count: 2 },
        { severity: 'high', state: 'active', count: 1 },
        { severity: 'medium', state: 'resolved', count: 2 },
        { severity: 'low', state: 'ignored', count: 1 },
      ],
      effects: { blocked: 3, executed: 2, unknown: 1 },
      time_to_review: { count: 4, median_seconds: 5_400, p90_seconds: 86_400 },
      time_to_resolve: { count: 2, median_seconds: 172_800, p90_seconds: 259_200 },
      list: list([0, 1, 2, 3, 4, 6].map((index) => incidentResult(index))),
    },
    oversight: {
      approvals: list([
        {
          at: day(5),
          agent_id: 'agt_000000000000000000000001',
          agent_name: 'Refund desk 1',
          task_id: 'case-5',
          step: 9,
          policy_name: 'refunds-above-500-need-approval',
          outcome: 'given',
          approved_by_step: 8,
          approver: 'maria@acme.example',
        },
        {
          at: day(6),
          agent_id: 'agt_000000000000000000000001',
          agent_name: 'Refund desk 1',
          task_id: 'case-6',
          step: 4,
          policy_name: 'refunds-above-500-need-approval',
          outcome: 'missing',
          approved_by_step: null,
          approver: null,
        },
      ]),
      changes: list([
        {
          at: day(3),
          kind: 'member.became',
          actor: 'person:psn_1',
          subject: 'person:psn_2',
          text: 'became an auditor',
        },
      ]),
      people: [
        { person_id: 'psn_1', name: 'Mia Brandt' },
        { person_id: 'psn_2', name: 'Noor Haddad' },
      ],
      members: [
        { role: 'owner', count: 1 },
        { role: 'auditor', count: 1 },
      ],
      events: { 'incident.opened': 6, 'member.became': 1, 'engine.state': 4 },
    },
    retention: {
      days: 365,
      holds: list([
        {
          id: 'hold_1',
          task_id: null,
          reason: 'audit of March',
          placed_by: 'person:psn_1',
          placed_at: day(2),
          released_at: null,
        },
      ]),
      erasures: list([
        { id: 'era_1', at: day(12), by: 'person:psn_1', entries: 4, tasks: 1, legal_basis: 'GDPR Article 17(1)(a)' },
      ]),
      prunes: list([]),
    },
    ...changes,
  }
}
