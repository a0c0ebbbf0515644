// When scheduled jobs are due.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { lastDue, readSchedule } from '../../../platform/jobs/schedule.js'

interface Case {
  readonly schedule: string
  readonly after: string
  readonly until: string
  readonly due: string | null
}

const text = readFileSync(new URL('../../cases/schedules.yaml', import.meta.url), 'utf8')
const cases = parse(text) as { readonly due: readonly Case[]; readonly rejected: readonly string[] }

describe('a schedule', () => {
  it.each(cases.due)('$schedule is due from $after to $until at $due', ({ schedule, after, until, due }) => {
    const found = lastDue(readSchedule(schedule), Date.parse(after), Date.parse(until))
    expect(found).toBe(due === null ? null : Date.parse(due))
  })

  it.each(cases.rejected)('`%s` is rejected', (schedule) => {
    expect(() => readSchedule(schedule)).toThrow('schedule')
  })
})
