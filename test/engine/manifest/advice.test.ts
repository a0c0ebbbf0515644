// The advice of messages about wrong types: what it shows in backticks, written instead, is accepted.
import { readFileSync } from 'node:fs'
import { rules } from '@svc/engine'
import { validateText } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Case {
  readonly rule?: string
  readonly key: string
  readonly written: string
  readonly advice: string
  readonly also?: string
}

const cases = parse(readFileSync(new URL('../../cases/manifests/advice.yaml', import.meta.url), 'utf8')) as Case[]

const now = Date.UTC(2026, 10, 23)
const head = 'name: Advice\nversion: "1.0.0"\npolicies:\n'

/** A manifest of one policy, the example of a rule, with one value written as `written`. */
function manifestWith({ rule, key, written }: Omit<Case, 'advice'>): string {
  const { name, example, scopes } = rules.find((one) => one.name === (rule ?? 'step_requires_gate')) ?? fail()
  const params = rule === undefined ? example : { ...example, [key]: undefined }
  const rest = rule === undefined ? `    ${key}: ${written}\n` : ''
  const param = rule === undefined ? '' : `      ${key}: ${written}\n`
  const others = Object.entries(params)
    .flatMap(([other, value]) => (value === undefined ? [] : `      ${other}: ${JSON.stringify(value)}\n`))
    .join('')
  const scope = scopes.includes('step_execution') ? 'step_execution' : scopes[0]
  return `${head}  - name: One\n    rule_type: ${name}\n    scope: ${scope}\n    severity: critical\n${rest}    params:\n${others}${param}`
}

function fail(): never {
  throw new Error('no such rule')
}

/** The messages of the errors about the value. */
function errorsOf(one: Omit<Case, 'advice'>): string[] {
  const { findings } = validateText(manifestWith(one), 'advice.yaml', { tests: 'off', now })
  return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
}

/** The value that a message shows to be written instead; null where it describes one. */
function shownIn(message: string): string | null {
  const [, shown] = /; write (?:a number such as |a list such as )?`([^`]+)`/.exec(message) ?? []
  return shown === undefined || shown.includes('…') || /^(- |key: value)/.test(shown) ? null : shown
}

describe('the advice of a message', () => {
  it.each(cases)('for `$written` as $key is `$advice`, which is accepted', (one) => {
    const [message = ''] = errorsOf(one)
    expect(shownIn(message), message).toBe(one.advice)
    if (one.also !== undefined) expect(message.slice(message.indexOf('; write'))).toBe(one.also)
    expect(errorsOf({ ...one, written: one.advice })).toEqual([])
  })

  const slips = [
    'true',
    'yes',
    '5',
    '"5"',
    'three',
    '"1,000"',
    '1h',
    'a',
    '"a, b"',
    'mon-fri',
    '[a]',
    '{ a: 1 }',
    '-1',
    '0.5',
  ]
  const parameters = rules.flatMap(({ name, params }) =>
    Object.keys((params.properties ?? {}) as object).map((key) => ({ rule: name, key })),
  )

  it.each(slips)('is accepted wherever it is shown for `%s`', (written) => {
    const shown = parameters.flatMap((parameter) => {
      const [message = ''] = errorsOf({ ...parameter, written })
      const advice = shownIn(message)
      return advice === null ? [] : [{ ...parameter, message, advice }]
    })
    const rejected = shown.flatMap(({ advice, message, ...parameter }) => {
      const errors = errorsOf({ ...parameter, written: advice }).filter((error) => error.includes('must be'))
      return errors.length === 0 ? [] : [{ ...parameter, message, errors }]
    })
    expect(shown.length).toBeGreaterThan(0)
    expect(rejected).toEqual([])
  })
})
