// Recorded runs as steps: the steps of each message. Nothing is lost, and a second conversion gives the same steps.
import { readFileSync } from 'node:fs'
import { createChecker } from '@svc/engine/parts'
import { parseStrictJson } from '@svc/proof'
import { type Behavior, documents, verbProblem } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { depthOf, keepsNumbers } from '../../../engine/convert/exact.js'
import { readValue } from '../../../engine/convert/json-value.js'
import { type RunFormatName, readRun } from '../../../engine/convert/run-formats.js'
import { stepsOf } from '../../../engine/convert/steps-of-run.js'
import { taskIdOf } from '../../../engine/convert/task-id.js'
import { type Guess, guessOf } from '../../../engine/convert/tool-guess.js'
import { meaningOf, type ToolMap } from '../../../engine/convert/tools.js'
import { type TranscriptReading, toolsIn } from '../../../engine/convert/transcript.js'
import { hangMs } from '../../support/server/hang.js'

interface TranscriptCase {
  readonly name: string
  readonly line?: unknown
  readonly text?: string
  readonly tools?: ToolMap
  readonly start?: Partial<Behavior>
  readonly steps?: readonly Partial<Behavior>[]
  readonly inputs?: readonly unknown[]
  readonly problem?: string
}

const cases = (name: string): unknown =>
  parse(readFileSync(new URL(`../../cases/import/${name}.yaml`, import.meta.url), 'utf8'))
const begin = Date.UTC(2026, 0, 1)

/** A line of a file as a run. */
function readTranscript(text: string, format: RunFormatName = 'chat-completions'): TranscriptReading {
  const reading = readValue(text)
  return reading.problem === null ? readRun(format, reading.value, null) : { problem: reading.problem }
}

function convert(text: string, tools: ToolMap = {}, line = 0, format?: RunFormatName): Behavior[] {
  const reading = readTranscript(text, format)
  if (reading.problem !== null) throw new Error(reading.problem)
  const { transcript } = reading
  const declared_tools = toolsIn(transcript)
  return stepsOf(transcript, line, { agent_key: 'desk', start: begin, tools, declared_tools })
}

/** A step without the members that the import adds to each. */
function summaryOf({ agent_id, task_id, step, timestamp, meta, ...body }: Behavior): unknown {
  const { synthetic_time, ...rest } = meta ?? {}
  return Object.keys(rest).length === 0 ? body : { ...body, meta: rest }
}

describe.each([
  ['chat-completions', 'transcripts'],
  ['recorder', 'recorder'],
] as const)('runs in the format %s', (format, file) => {
  const all = cases(file) as TranscriptCase[]

  it.each(all)('$name', ({ line, text = JSON.stringify(line), tools, start, steps, inputs, problem }) => {
    if (problem !== undefined) {
      expect(readTranscript(text, format).problem).toContain(problem)
      return
    }
    const [first, ...others] = convert(text, tools, 0, format)
    expect(others.pop()).toMatchObject({ step_type: 'task.end', meta: { synthetic_time: true } })
    expect(first?.step_type).toBe('task.start')
    if (start !== undefined) expect({ input: first?.input, meta: first?.meta }).toEqual(start)
    if (steps !== undefined) expect(others.map(summaryOf)).toEqual(steps)
    if (inputs !== undefined) {
      expect(others.filter(({ step_type }) => step_type === 'step.resource').map(({ input }) => input)).toEqual(inputs)
    }
  })
})

describe('tools', () => {
  const all = Object.entries(cases('tools') as Record<string, [string, string | null, ...string[]]>)

  it.each(all)('%s', (name, [step_type, verb, ...doubts]) => {
    const { properties, suggested, ...guess } = guessOf(name)
    expect(guess).toEqual({ step_type, doubts, ...(verb !== null && { verb }) })
    const ofTheWeb = { target: { trust: 'external' }, content: { trust: 'public' } }
    expect(properties).toEqual(doubts.includes('labels') ? ofTheWeb : undefined)
    const missing = verb === 'GET' ? { content: { trust: 'third_party' } } : { target: { trust: 'external' } }
    expect(suggested).toEqual(doubts.includes('unlabelled') ? missing : undefined)
  })

  const maps = cases('mapped-tools') as { tool: string; map: ToolMap[string]; guess: Guess }[]

  it.each(maps)('$tool with $map', ({ tool, map, guess }) => {
    expect(meaningOf(tool, { [tool]: map })).toEqual(guess)
  })

  it('are guessed as steps that exist, and never as gates', () => {
    const words = all.flatMap(([name]) => name.split(/[^A-Za-z]+/)).filter((word) => word !== '')
    const name = fc.array(fc.constantFrom(...words, 'approve', 'gate'), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          name.map((parts) => parts.join('_')),
        ),
        (tool) => {
          const { step_type, verb } = guessOf(tool)
          expect(verbProblem({ step_type, ...(verb !== undefined && { verb }) })).toBeNull()
          expect(step_type).not.toBe('step.gate')
        },
      ),
    )
  })
})

describe('identity and time', () => {
  const text = JSON.stringify({ run_id: 'r', messages: [{ role: 'user', content: 'hi' }] })

  it('a task is the UUIDv5 of its run in the namespace of its agent', () => {
    // Computed with another implementation: uuid5(uuid5(NAMESPACE_URL, agent_key), run_id).
    expect(taskIdOf('desk', 'r')).toBe('d2e24068-8d0c-553b-9ad2-2c494ffcbf3a')
    expect(taskIdOf('Büro', 'läuft')).toBe('337adf0c-c966-5ef3-b5b8-168094bbfaf6')
    expect(new Set([taskIdOf('a', 'bc'), taskIdOf('ab', 'c'), taskIdOf('desk', 'R')]).size).toBe(3)
  })

  it('a line takes an hour, a step a second, and steps count from 1', () => {
    const steps = convert(text, {}, 25)
    expect(steps.map(({ step, timestamp }) => [step, timestamp])).toEqual([
      [1, '2026-01-02T01:00:00.000Z'],
      [2, '2026-01-02T01:00:01.000Z'],
      [3, '2026-01-02T01:00:02.000Z'],
    ])
  })

  it('the same line makes the same bytes', () => {
    expect(JSON.stringify(convert(text))).toBe(JSON.stringify(convert(text)))
  })
})

describe('hostile transcripts', () => {
  const call = (text: string) => ({ id: 'a', function: { name: 'send', arguments: text } })
  const inputOf = (text: string) =>
    convert(JSON.stringify({ run_id: 'r', messages: [{ role: 'assistant', tool_calls: [call(text)] }] })).at(2)?.input

  it('keep prototype keys as data', () => {
    const steps = convert(
      `{"run_id": "r", "__proto__": {"polluted": 1}, "messages": [{"role": "user", "__proto__": {"polluted": 2}, "content": "x"}]}`,
    )
    expect(JSON.stringify(steps)).toMatch(/"run":\{"run_id":"r","__proto__":\{"polluted":1\}\}/)
    expect(JSON.stringify(steps)).toMatch(/"transcript":\{"__proto__":\{"polluted":2\}\}/)
    expect(JSON.stringify(inputOf('{"__proto__": {"polluted": 3}}'))).toBe('{"__proto__":{"polluted":3}}')
    expect({}).not.toHaveProperty('polluted')
  })

  it('keep values that are too deep for a batch of steps as text', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    for (let depth = 1; depth <= 70; depth++) {
      const input = inputOf(`{"a": ${nested(depth)}}`)
      expect(input).toEqual(
        depth < 56 ? { a: JSON.parse(nested(depth)) as unknown } : { arguments: `{"a": ${nested(depth)}}` },
      )
    }
  })

  it('stay within the depth of a batch', () => {
    const deep = JSON.parse(`${'['.repeat(57)}1${']'.repeat(57)}`) as unknown
    const messages = ['system', 'developer', 'user', 'assistant', 'tool', 'critic'].flatMap((role) => [
      { role, content: deep },
      { role, name: deep, more: deep },
    ])
    const steps = convert(JSON.stringify({ run_id: 'r', reward: deep, messages }))
    expect(parseStrictJson(JSON.stringify({ entries: steps })).problem).toBeNull()
    const kept = JSON.stringify(JSON.stringify(deep))
    expect(JSON.stringify(steps).split(kept)).toHaveLength(1 + 1 + 6 + 12 + 1)
  })

  it('match the calls and answers of a very long run', () => {
    const calls = Array.from({ length: 40_000 }, (_, index) => ({
      role: 'assistant',
      tool_calls: [{ id: `c${index}`, function: { name: 'get_x', arguments: '{}' } }],
    }))
    const answers = calls.map((_, index) => ({ role: 'tool', tool_call_id: `c${index}`, name: 'get_x', content: '' }))
    const before = performance.now()
    const steps = convert(JSON.stringify({ run_id: 'r', messages: [...calls, ...answers] }))
    expect(steps.filter(({ output }) => output?.content === '')).toHaveLength(40_000)
    // Trying every answer for every call would take minutes.
    expect(performance.now() - before).toBeLessThan(hangMs)
  })

  it('match the calls and answers of a long run of a recorder in any order', () => {
    const tool_calls = Array.from({ length: 20_000 }, (_, index) => ({ id: `c${index}`, function: 'get_x', args: {} }))
    const answers = tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '' })).reverse()
    const text = JSON.stringify({ run_id: 'r', messages: [{ role: 'assistant', tool_calls }, ...answers] })
    const before = performance.now()
    const steps = convert(text, {}, 0, 'recorder')
    expect(steps.filter(({ output }) => output?.content === '')).toHaveLength(20_000)
    expect(performance.now() - before).toBeLessThan(hangMs)
  })

  const check = createChecker(Object.values(documents))
  const message = fc.record(
    {
      role: fc.oneof(fc.constantFrom('system', 'user', 'assistant', 'tool', 'function', 'developer'), fc.string()),
      content: fc.oneof(fc.string(), fc.jsonValue(), fc.json()),
      name: fc.oneof(fc.constantFrom('get_x', 'y'), fc.jsonValue()),
      tool_call_id: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue()),
      tool_calls: fc.array(
        fc.record({
          id: fc.oneof(fc.constantFrom('a', 'b', null), fc.jsonValue()),
          function: fc.record(
            {
              name: fc.oneof(fc.constantFrom('get_x', 'y', 'bash'), fc.string({ minLength: 1 })),
              arguments: fc.oneof(fc.json(), fc.jsonValue(), fc.string()),
            },
            { requiredKeys: ['name'] },
          ),
        }),
        { maxLength: 3 },
      ),
      function_call: fc.oneof(fc.constant({ name: 'y' }), fc.constant(null)),
      refusal: fc.string(),
    },
    { requiredKeys: ['role'] },
  )
  const transcript = fc.record({ run_id: fc.string({ minLength: 1 }), messages: fc.array(message, { minLength: 1 }) })

  it('become valid steps with all their texts', () => {
    fc.assert(
      fc.property(transcript, (line) => {
        const text = JSON.stringify(line)
        const reading = readTranscript(text)
        if (reading.problem !== null) {
          expect(parseStrictJson(text).problem).not.toBeNull()
          return
        }
        const steps = convert(text)
        expect(steps).toEqual(convert(text))
        const entries = steps.map(({ agent_id, ...step }) => ({ ...step, agent_key: agent_id }))
        expect(parseStrictJson(JSON.stringify({ entries })).problem).toBeNull()
        expect(entries.flatMap((entry) => check('log-request.json')(entry))).toEqual([])
        expect(steps.flatMap((step) => check('behavior.json')(step))).toEqual([])
        expect(steps.map(verbProblem).filter((problem) => problem !== null)).toEqual([])
        const kept = JSON.stringify(steps)
        for (const { content, refusal } of line.messages) {
          for (const text of [content, refusal]) if (typeof text === 'string') expect(isKept(text, kept)).toBe(true)
        }
      }),
    )
  })

  /** Kept as its text or as its JSON value. */
  function isKept(text: string, kept: string): boolean {
    return kept.includes(JSON.stringify(text)) || kept.includes(JSON.stringify(parseStrictJson(text)).slice(9, -16))
  }

  it('never make the reader throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(typeof readTranscript(text).problem).toBe('string')
        expect(typeof readTranscript(text, 'recorder').problem).toBe('string')
      }),
    )
  })
})

describe('numbers', () => {
  it('are kept in the form that a program writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(keepsNumbers(JSON.stringify([value, { a: value }]))).toBe(true)
        expect(keepsNumbers(`[${value.toExponential()}]`)).toBe(true)
      }),
    )
  })

  it('are not kept with more digits than a double has', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 900n }), (value) => {
        expect(keepsNumbers(`[${value}]`)).toBe(normal(String(value)) === normal(String(Number(value))))
      }),
    )
  })

  /** Exact, but slow: a decimal as a fraction of whole numbers. */
  function normal(literal: string): bigint {
    const [, digits = '', fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e\+?(\d+))?$/.exec(literal) ?? []
    return BigInt(digits + fraction) * 10n ** BigInt(Number(power) - fraction.length)
  }

  it.each([
    ['only in a string', '"9007199254740993 1e999"', true],
    ['only in strings with escapes', '{"a\\"1e999": "\\\\", "b": 1}', true],
    ['written in other ways', '[1.50, 100e-2, -0, 0.0e5, 1E2]', true],
    ['after a string with an escape', '["\\\\", 1e999]', false],
    ['with many decimals', '[123456789.123456789123]', false],
    ['with many zeros', `[1${'0'.repeat(500)}]`, false],
    ['with a million zeros', `[0.${'0'.repeat(1_000_000)}1]`, false],
  ])('%s', (_, json, kept) => {
    expect(keepsNumbers(json)).toBe(kept)
  })

  it('are found at any depth of the value', () => {
    expect([1, [], [[1]], { a: [{}] }].map(depthOf)).toEqual([0, 1, 2, 3])
  })
})
