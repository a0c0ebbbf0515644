// Transcripts of coding agents as steps: what each line becomes, and that a session which has grown begins with the same steps.
import { readFileSync } from 'node:fs'
import { type CodingFormatName, createSession } from '@svc/adapters/sessions'
import type { ToolMap } from '@svc/engine'
import { createChecker } from '@svc/engine/parts'
import { parseStrictJson } from '@svc/proof'
import { type Behavior, documents, type JsonMap, verbProblem } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readLine } from '../../adapters/sessions/lines.js'
import { claudeLine, codexLine, sessionId } from '../support/spans/sessions.js'

interface SessionCase {
  readonly name: string
  readonly lines: readonly JsonMap[]
  readonly tools?: ToolMap
  readonly ended?: true
  readonly start?: Partial<Behavior>
  readonly steps?: readonly Partial<Behavior>[]
  readonly others?: Readonly<Record<string, number>>
  readonly left?: number
  readonly guessed?: readonly string[]
}

const casesOf = (format: CodingFormatName) =>
  parse(readFileSync(new URL(`../cases/import/${format}.yaml`, import.meta.url), 'utf8')) as SessionCase[]

const lineOf = { 'claude-code': claudeLine, codex: codexLine }

function convert(
  format: CodingFormatName,
  lines: readonly JsonMap[],
  { tools = {}, ended = false }: { tools?: ToolMap; ended?: boolean } = {},
) {
  const start = Date.UTC(2026, 0, 1)
  const session = createSession({ format, agent_key: 'desk', session_id: sessionId, task_id: sessionId, start, tools })
  const others = new Map<string, number>()
  const steps: Behavior[] = []
  for (const line of lines) {
    const added = session.add(line)
    steps.push(...added.steps)
    for (const { name } of added.others) others.set(name, (others.get(name) ?? 0) + 1)
  }
  steps.push(...session.finish(ended))
  return { steps, others: Object.fromEntries(others), left: session.left(), guessed: [...session.guessed_tools].sort() }
}

const check = createChecker(Object.values(documents))

function expectValid(steps: readonly Behavior[]): void {
  expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1))
  expect(steps.flatMap((step) => check('behavior.json')(step))).toEqual([])
  expect(steps.map(verbProblem).filter((problem) => problem !== null)).toEqual([])
  expect(parseStrictJson(JSON.stringify({ entries: steps })).problem).toBeNull()
}

describe.each(['claude-code', 'codex'] as const)('sessions in the format %s', (format) => {
  const all = casesOf(format)
  const linesOf = ({ lines }: SessionCase) => lines.map(lineOf[format])

  it.each(all)('$name', (one) => {
    const { tools = {}, ended = false, start, steps, others = {}, left = 0, guessed = [] } = one
    const found = convert(format, linesOf(one), { tools, ended })
    expectValid(found.steps)
    expect(found.others).toEqual(others)
    const [first, ...rest] = found.steps
    if (steps !== undefined) {
      expect(rest).toMatchObject(steps)
      expect(found.left).toBe(left)
      expect(found.guessed).toEqual(guessed)
    }
    if (start !== undefined) expect(first).toMatchObject({ step_type: 'task.start', step: 1, ...start })
  })

  it.each(all)('$name: each part of the session begins with the same steps', (one) => {
    const lines = linesOf(one)
    const whole = convert(format, lines, { tools: one.tools ?? {} }).steps
    for (let count = 0; count <= lines.length; count++) {
      const { steps } = convert(format, lines.slice(0, count), { tools: one.tools ?? {} })
      expect(steps).toEqual(whole.slice(0, steps.length))
    }
  })

  it('never throw, and make valid steps, whatever the lines are', () => {
    const names = fc.constantFrom(...new Set(all.flatMap((one) => namesIn(linesOf(one)))))
    const texts = fc.oneof(fc.constantFrom(...new Set(all.flatMap((one) => textsIn(linesOf(one))))), fc.string())
    const line = fc.letrec<{ line: JsonMap; value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        texts,
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        tie('line'),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
      line: fc.dictionary(names, tie('value'), { maxKeys: 6 }),
    })).line
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), (lines, ended) => {
        expectValid(convert(format, lines, { ended }).steps)
      }),
    )
  })

  it('stay the same whatever lines come later', () => {
    // A line that states the end of its answer is the last of them, which lines in a random order are not.
    const pool = all.flatMap(linesOf).map(withoutEnd)
    const mixed = fc.array(fc.constantFrom(...pool), { maxLength: 14 })
    fc.assert(
      fc.property(mixed, mixed, (lines, more) => {
        const { steps } = convert(format, lines)
        expect(convert(format, [...lines, ...more]).steps.slice(0, steps.length)).toEqual(steps)
      }),
    )
  })
})

function withoutEnd(line: JsonMap): JsonMap {
  const { message } = line as { message?: JsonMap }
  return message === undefined ? line : { ...line, message: { ...message, stop_reason: null } }
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(namesIn)]
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

describe('lines', () => {
  it('may have texts that were cut inside a character, and long numbers', () => {
    expect(readLine('{"a": "x\\ud83d", "b": 12345678901234567890, "c": 1e400}')).toEqual({
      value: { a: 'x\ufffd', b: '12345678901234567000', c: 'Infinity' },
      problem: null,
    })
  })

  it('may be nested deeply', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect(readLine(nested(70)).problem).toBeNull()
    expect(typeof readLine(nested(200_000)).problem).toBe('string')
  })

  it('of a session without end need no more memory: a call that is never answered holds no step back for ever', () => {
    const call = claudeLine({ call: ['never', 'Bash', { command: 'sleep' }], isSidechain: true, agentId: 'a' }, 0)
    const later = Array.from({ length: 6000 }, (_, index) => claudeLine({ user: `message ${index}` }, index + 1))
    const { steps, left } = convert('claude-code', [call, ...later])
    expect(steps.length).toBeGreaterThan(6000)
    expect(left).toBe(0)
  })
})
