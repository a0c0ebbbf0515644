// `svc steps` and docs/steps.md: the vocabulary of steps, with examples that are valid as printed.
import { readFileSync } from 'node:fs'
import { createChecker } from '@svc/engine/parts'
import { type Behavior, documents, propertyWords, stepWords, verbProblem } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { runSvc } from '../support/engine/serve.js'

const check = createChecker(Object.values(documents))('behavior.json')
const page = readFileSync(new URL('../../docs/steps.md', import.meta.url), 'utf8')

describe('svc steps', () => {
  it('prints every step type and property with an example', async () => {
    const { code, out } = await runSvc(['steps'])
    expect(code).toBe(0)
    for (const { step_type, example } of stepWords) {
      expect(out).toContain(`  ${step_type}  (`)
      expect(out).toContain(`example  ${JSON.stringify(example)}\n`)
    }
    for (const { name } of propertyWords) expect(out).toContain(`  ${name}  (`)
    expect(out).toContain('LLM_CALL = step.model')
  })

  it('prints the same as JSON', async () => {
    const { code, out } = await runSvc(['steps', '--json'])
    const { step_types, properties, aliases, verbs } = JSON.parse(out)
    expect([code, verbs]).toEqual([0, ['GET', 'POST', 'PATCH', 'DELETE']])
    expect([step_types, properties]).toEqual([stepWords, propertyWords])
    expect(Object.keys(aliases)).toEqual(['START_NODE', 'END_NODE', 'ERROR_NODE', 'LLM_CALL'])
  })

  it('shows a gate with its check type', () => {
    const gate = stepWords.find(({ step_type }) => step_type === 'step.gate')
    expect(gate?.example).toMatchObject({ properties: { guard: { check_type: 'human_approval' } } })
  })
})

describe('the examples', () => {
  it.each(stepWords)('are steps: $step_type', ({ example }) => {
    expect(check(example)).toEqual([])
    expect(verbProblem(example as unknown as Behavior)).toBeNull()
  })

  it.each(propertyWords)('have their property: $name', ({ name, example }) => {
    const value = name.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown>)?.[key], example)
    expect(value).toBeDefined()
    expect(check({ step_type: 'step.resource', properties: example })).toEqual([])
  })
})

describe('docs/steps.md', () => {
  const tools = [...page.matchAll(/^\| ([^`|]+) \| `(\{"step_type".*\})` \|$/gm)].map(([, tool, json]) => ({
    tool,
    json,
  }))

  it('maps common tools', () => {
    expect(tools.map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(['send mail', 'search the web', 'run a shell command', 'pay', 'ask a person to approve']),
    )
  })

  it.each(tools)('gives a step that can be recorded: $tool', ({ json = '' }) => {
    const step = JSON.parse(json) as Behavior
    expect(check(step)).toEqual([])
    expect(verbProblem(step)).toBeNull()
    const known = propertyWords.map(({ name }) => name)
    for (const [space, members] of Object.entries(step.properties ?? {}))
      for (const key of Object.keys(members as object))
        expect(known.some((name) => name === `${space}.${key}` || name.startsWith(`${space}.${key}.`))).toBe(true)
  })

  it('lists every property', () => {
    for (const { name } of propertyWords) expect(page).toContain(`| \`${name}\` |`)
  })
})
