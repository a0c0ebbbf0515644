// The days of a waiver: it lasts until 24:00 UTC of the day that `expires` names, at every place that reads or prints it.
import { onAgent, Task } from '@svc/engine'
import { diffManifests, lastDayOf, validateText, waivedUntil, waiverEnd } from '@svc/engine/parts'
import type { Manifest } from '@svc/schemas'
import { describe, expect, it } from 'vitest'

describe('the end of a waiver', () => {
  it.each([
    ['2027-01-31', '2027-02-01T00:00:00.000Z'],
    ['2028-02-29', '2028-03-01T00:00:00.000Z'],
    ['2026-12-31', '2027-01-01T00:00:00.000Z'],
  ])('of the day %s is %s, and its last day is that day', (expires, end) => {
    const ms = Date.parse(end)
    expect([waiverEnd(expires), lastDayOf(ms), lastDayOf(end)]).toEqual([ms, expires, expires])
    expect([...waivedUntil(manifest(expires), 'desk').values()]).toEqual([ms])
    const [waiver] = diffManifests(manifest(), manifest(expires)).waivers
    expect(waiver).toMatchObject({ new: expires })
  })

  it.each(['2027-02-30', '2027-1-1', ''])('of the text %j is unknown: it is not a calendar day', (expires) => {
    expect(waiverEnd(expires)).toBe(null)
  })

  it.each([
    ['2027-01-31T23:59:59.999Z', 'warn', []],
    ['2027-02-01T00:00:00.000Z', 'block', ['expired-waiver']],
  ])('decides at %s: %s', (at, outcome, findings) => {
    expect(outcomeAt(Date.parse(at))).toBe(outcome)
    const found = validateText(JSON.stringify(manifest('2027-01-31')), 'a.yaml', { now: Date.parse(at), tests: 'off' })
    expect(found.findings.flatMap(({ id }) => (/waiver/.test(id) ? [id] : []))).toEqual(findings)
  })
})

function manifest(expires?: string): Manifest {
  const waiver = { policy: 'amount', agent_key: 'desk', reason: 'r', approved_by: 'a', expires: expires ?? '' }
  return {
    name: 'Refunds',
    version: '1',
    policies: [
      {
        name: 'amount',
        rule_type: 'field_not_empty',
        params: { field: 'input.amount', target_step_names: ['refund'] },
        scope: 'step_execution',
        severity: 'critical',
      },
    ],
    ...(expires !== undefined && { waivers: [waiver] }),
  }
}

function outcomeAt(now: number): string {
  const { set } = onAgent(manifest('2027-01-31'), { agent_key: 'desk' })
  const step = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: {} }
  return new Task(set).evaluate(step, {}, { now }).outcome
}
