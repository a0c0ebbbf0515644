// The pure decisions about actions, from test/cases/actions.yaml.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { slackBody } from '../../../../platform/incidents/actions/kinds/slack.js'
import { summaryOf } from '../../../../platform/incidents/actions/kinds/summary.js'
import { type Conditions, matches, type Occurrence } from '../../../../platform/incidents/actions/matching.js'
import {
  type Attempt,
  delayAfter,
  nextState,
  outcomeOf,
  receiverAfter,
  retryAfterOf,
} from '../../../../platform/incidents/actions/outcome.js'

interface OutcomeRow {
  readonly name: string
  readonly status?: number
  readonly retry_after?: number
  readonly unreachable?: string
  readonly hours?: number
  readonly state: string
  readonly next?: number
  readonly receiver?: number | null
  readonly says?: string
}
const cases = parse(readFileSync(new URL('../../../cases/actions.yaml', import.meta.url), 'utf8')) as {
  readonly matching: readonly (Partial<Conditions> & { name: string; found: Partial<Occurrence>; expect: boolean })[]
  readonly outcomes: readonly OutcomeRow[]
  readonly retry_after: readonly { header: string; seconds: number | null }[]
}
const now = Date.parse('2026-01-05T09:00:00Z')
const triggers: Conditions['on'] = [
  'incident.created',
  'incident.changed',
  'task.unfinished',
  'step.unrecorded',
  'trace.gap',
  'log.invalid',
  'resync.failed',
  'assignment.held',
]

describe('an action', () => {
  it.each(cases.matching.map((row) => [row.name, row] as const))('for %s', (_, { found, expect: wanted, ...given }) => {
    const conditions = { id: 'act_1', on: triggers, min_severity: null, agent_ids: null, policy_ids: null, ...given }
    expect(matches(conditions, { subject_kind: 'incident', subject_id: 'inc_1', ...found } as Occurrence)).toBe(wanted)
  })
})

function attemptOf({ status, retry_after = null as unknown as number, unreachable }: OutcomeRow): Attempt {
  if (status !== undefined) return { kind: 'answered', status, retry_after }
  return unreachable === undefined ? { kind: 'interrupted' } : { kind: 'unreachable', reason: unreachable }
}

describe('an attempt', () => {
  it.each(cases.outcomes.map((row) => [row.name, row] as const))('that ends with %s', (_, row) => {
    const { hours = 1, state, next, receiver, says = '' } = row
    const outcome = outcomeOf(attemptOf(row))
    expect(outcome.error ?? '').toContain(says)
    const give_up_at = now + (24 - hours) * 3_600_000
    const found = nextState({ attempts: 2, give_up_at, next_attempt_at: now }, outcome, now, 0.5)
    const seconds = found.state === 'pending' ? Math.round((found.next_attempt_at - now) / 100) / 10 : undefined
    expect([found.state, seconds]).toEqual([state, next])
    const after = receiverAfter({ failures: 2 }, [outcome], now, 0.5)
    if (receiver === undefined) return expect(after).toBeNull()
    const wait = after?.retry_at == null ? null : (after.retry_at - now) / 1000
    expect(wait).toBe(receiver)
  })

  it('without an end of its own is given up a day later', () => {
    const outcome = outcomeOf({ kind: 'answered', status: 500, retry_after: null })
    expect(nextState({ attempts: 1, give_up_at: null, next_attempt_at: now }, outcome, now, 0)).toEqual({
      state: 'pending',
      next_attempt_at: now + 4000,
      give_up_at: now + 86_400_000,
    })
  })

  it('beside one that reaches the receiver does not count as an outage', () => {
    const outcomes = [503, 200].map((status) => outcomeOf({ kind: 'answered', status, retry_after: null }))
    expect(receiverAfter({ failures: 2 }, outcomes, now, 0)).toEqual({ failures: 0, retry_at: null, error: null })
  })
})

describe('the delay', () => {
  it('doubles up to its limit, and is spread by a fifth', () => {
    const seconds = (of: 'delivery' | 'receiver') =>
      [1, 2, 3, 7, 8, 11, 40].map((count) => delayAfter(of, count, 0, 0.5) / 1000)
    expect(seconds('delivery')).toEqual([5, 10, 20, 320, 640, 3600, 3600])
    expect(seconds('receiver')).toEqual([5, 10, 20, 320, 600, 600, 600])
    expect([0, 0.999_999].map((random) => Math.round(delayAfter('delivery', 1, 0, random)))).toEqual([4000, 6000])
  })

  it.each(cases.retry_after)('after Retry-After: $header is $seconds', ({ header, seconds }) => {
    expect(retryAfterOf(header, now)).toBe(seconds)
  })
})

describe('a message to people', () => {
  it.each(['action.test', ...triggers])('of %s links to a page or to nothing', (type) => {
    const incident = { id: 'inc_1', history: [], note: null, task_id: null, occurrences: 1 }
    const subject = { id: 1, agent_id: 'ag_1', message: 'm', held_sha: 'abc', manifest_path: 'a.yaml' }
    const data = type.startsWith('incident.') ? { incident } : { subject }
    const { link } = summaryOf({ type, timestamp: '', data }, 'https://svc.example')
    expect(link).toBe(type.startsWith('incident.') ? 'https://svc.example/incidents/inc_1' : null)
    expect(summaryOf({ type, timestamp: '', data }, null).link).toBeNull()
  })
})

describe('a message to Slack', () => {
  const hostile = '<!channel> *bold* <https://evil.example|click> &amp; @here\n> quote'
  const incident = {
    id: 'inc_1',
    severity: 'high',
    state: 'open',
    policy_name: hostile,
    rule_type: 'r',
    agent_id: hostile,
    task_id: hostile,
    step: 3,
    occurrences: 1,
    note: null,
  }
  const summary = summaryOf({ type: 'incident.created', timestamp: '', data: { incident } }, 'https://svc.example')
  const body = JSON.parse(slackBody(summary)) as {
    text: string
    mrkdwn: boolean
    parse: string
    blocks: { text: object }[]
  }

  it('contains no markup, mention or link of a name', () => {
    expect(body.text).not.toMatch(/<|>|@here/)
    expect(body.text).toContain('&lt;!channel&gt;')
    expect(body.text).toContain('&amp;amp;')
    expect(body.text.split('\n')).toHaveLength(4)
    expect(body).toMatchObject({ mrkdwn: false, parse: 'none', blocks: [{ text: { type: 'plain_text' } }, {}] })
  })

  it('links to the page of the incident', () => {
    const link = '<https://svc.example/incidents/inc_1|Open the incident>'
    expect(body.blocks[1]?.text).toEqual({ type: 'mrkdwn', text: link })
  })
})
