// Pieces of HTML that are functions of one value.
import { describe, expect, it } from 'vitest'
import { duration, mailAddress } from '../../../platform/dashboard/views/html.js'

describe('a mail address', () => {
  it('may break after its @, and is escaped', () => {
    expect(mailAddress('<mia>@example.org').toHTML()).toBe('<bdi>&lt;mia&gt;@<wbr>example.org</bdi>')
  })
})

describe('a length of time', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [3569, '59 min'],
    [3599, '1 h'],
    [3660, '1 h 1 min'],
    [47 * 3600 + 1800, '47 h 30 min'],
    [48 * 3600, '2 days'],
    [50 * 3600, '2 days 2 h'],
    [2000 * 86_400, '2,000 days'],
  ])('of %i seconds is %s', (seconds, expected) => {
    expect(duration(seconds)).toBe(expected)
  })
})
