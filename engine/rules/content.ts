// Rules about what a step carries (engine.md §3, 20–22).
import type { JsonMap } from '../steps.js'
import { compileField } from './lookup.js'
import { compileSearch, type Matcher } from './pattern.js'
import { defineRule, evidenceOf, NOT_APPLICABLE, PASS, type Scope } from './rule.js'

const scopes: readonly Scope[] = ['step_execution']

export const contentRules = [
  defineRule<{ patterns: readonly string[]; fields?: readonly string[] }>({
    name: 'pii_in_request',
    category: 'content',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['patterns'],
      additionalProperties: false,
      properties: {
        patterns: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 1000 }, minItems: 1 },
        fields: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          description: 'default input and exec.command',
        },
      },
    },
    doc: 'Passes when no pattern is found in any string inside the fields, keys included.',
    example: { patterns: ['[0-9]{3}-[0-9]{2}-[0-9]{4}'], fields: ['input'] },
    compile: (params) => {
      const matchers = params.patterns.map((pattern, index) => compileSearch(pattern, `patterns.${index}`))
      const fields = (params.fields ?? ['input', 'exec.command']).map((path) => ({
        path,
        get: compileField(path, 'fields'),
      }))
      return (situation) => {
        const { step } = situation
        if (step === null) return NOT_APPLICABLE
        for (const { path, get } of fields) {
          const index = firstMatch(get(situation), matchers)
          if (index === null) continue
          return {
            code: 'PATTERN_FOUND',
            message: `pattern ${index + 1} of the policy is found in \`${path}\``,
            evidence: [evidenceOf(step)],
            remedy: `take it out of \`${path}\``,
          }
        }
        return PASS
      }
    },
  }),
]

/** Index of the first pattern found in any string of the value, keys included; null when there is none. */
function firstMatch(value: unknown, matchers: readonly Matcher[]): number | null {
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const item = pending.pop()
    if (typeof item === 'string') {
      const index = matchers.findIndex((matches) => matches(item))
      if (index >= 0) return index
    } else if (Array.isArray(item)) {
      pending.push(...item)
    } else if (typeof item === 'object' && item !== null) {
      for (const key of Object.keys(item)) pending.push(key, (item as JsonMap)[key])
    }
  }
  return null
}
