// The time of a text in the usual form is that of the same text with another spelling of its zone.
import { isoTime, parseTimestamp } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/random.js'

const otherSpelling = (text: string) => parseTimestamp(text.replace(/Z$/, '+00:00'))

describe('a time in the usual form', () => {
  it('is read as it was written', () => {
    const ms = fc.integer({ min: Date.parse('0001-01-01T00:00:00Z'), max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) })
    fc.assert(fc.property(ms, (time) => parseTimestamp(isoTime(time)) === time))
  })

  it('is rejected where the other spelling is', () => {
    const digits = fc.constantFrom(
      '00',
      '01',
      '12',
      '13',
      '23',
      '24',
      '28',
      '29',
      '30',
      '31',
      '32',
      '59',
      '60',
      '61',
      'ab',
    )
    const fraction = fc.constantFrom('', '.0', '.007', '.0070', '.x07')
    const text = fc
      .tuple(
        fraction,
        fc.constantFrom('0000', '0001', '0999', '1000', '2023', '2024', '9999'),
        ...Array(5).fill(digits),
      )
      .map(
        ([end, year, month, day, hour, minute, second]) => `${year}-${month}-${day}T${hour}:${minute}:${second}${end}Z`,
      )
    fc.assert(
      fc.property(text, (time) => parseTimestamp(time) === otherSpelling(time)),
      { numRuns: runs(3000) },
    )
  })

  it.each([
    '2026-01-05T09:00:00',
    '2026-01-05T09:00:00Z',
    '2026-01-05T09:00:00.0007',
    '2026-01-05 09:00:00.000Z',
    '2026-01-05t09:00:00.000z',
    '2026/01/05T09:00:00.000Z',
  ])('%s is not in that form, and is read all the same or rejected', (text) =>
    expect(parseTimestamp(text)).toBe(text.includes('/') ? null : Date.UTC(2026, 0, 5, 9)),
  )
})
