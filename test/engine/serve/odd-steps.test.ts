// Steps with odd numbers, names, strings and depths at the local engine: every reader reads what its endpoints accept.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonical, parseStrictJson } from '@svc/proof'
import type { RecordedStep } from '@svc/schemas'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRecall, fileBytes } from '../../../engine/trace/recall/recall.js'
import { isDeeperThan } from '../../../proof/json/depth.js'
import { requestJson } from '../../../proof/json/request-json.js'
import { parseStoredJson } from '../../../proof/json/strict-json.js'
import { deepObject, oddObject, rejectedValues } from '../../support/engine/odd-json.js'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { runs } from '../../support/random.js'

const seed = Number(process.env.SVC_HONEST_SEED ?? Date.now() % 2 ** 31)

/** A policy that each step violates, nested deeper than any request can be. */
function deepPolicy(levels: number) {
  let node: object = { rule_type: 'field_in_list', params: { field: 'step_type', values: ['step.self'] } }
  for (let level = 0; level < levels; level++) node = { rule_type: 'all_of', params: { conditions: [node] } }
  return { name: 'deep', severity: 'low', scope: 'step_execution', ...node }
}
const manifest = JSON.stringify({ name: 'Deep', version: '1', policies: [deepPolicy(60)] })

const fields = ['input', 'output', 'properties', 'meta'] as const
const payload = fc.dictionary(fc.constantFrom(...fields), oddObject, { noNullPrototype: true })
const odd = fc.sample(payload, { numRuns: 120, seed })
const deep = fields.flatMap((field) =>
  [3, 40, 61, 62].map((levels) => ({ [field]: deepObject(levels, '"__proto__"') })),
)
/** Members of steps that every endpoint accepts, as text. */
const steps = [{ input: '{"started_ns":1.7322624e+18}' }, ...deep, ...odd].map((members) =>
  Object.entries(members)
    .map(([field, text]) => `,"${field}":${text}`)
    .join(''),
)
const rejected = [...rejectedValues.map((value) => `{"a":[${value}]}`), deepObject(63)]

const recordText = (members: string) => `{"step":{"task_id":"t","step_type":"step.resource"${members}}}`
const evaluateText = (members: string) =>
  `{"intended":{"step_type":"step.resource"${members}},"context":{"agent_id":"a","task_id":"t","environment":"test","risk_classification":"limited"}}`

/** The payload of a step in its canonical form; two audit keys are the engine's own. */
function payloadText(step: Readonly<Record<string, unknown>>): string {
  const {
    'svc.eval': _eval,
    'svc.late': _late,
    'svc.manifests': _manifests,
    ...meta
  } = (step.meta ?? {}) as Record<string, unknown>
  return canonical({ input: step.input, output: step.output, properties: step.properties, meta })
}

describe(`steps that are odd (SVC_HONEST_SEED=${seed})`, () => {
  let serve: Serve
  const recorded: string[] = []
  const path = () => join(serve.folder, 'data', 'traces.jsonl')
  beforeAll(async () => {
    serve = await startServe(['--policy-file', 'deep.yaml'], { 'deep.yaml': manifest })
    for (const members of steps) {
      const { status, body } = await serve.call<RecordedStep>('POST', '/record', { raw: recordText(members) })
      // The output of a step may mark it as blocked, which adds two steps.
      expect([members, status, body.task_id]).toEqual([members, 200, 't'])
      recorded.push(payloadText((JSON.parse(recordText(members)) as { step: Record<string, unknown> }).step))
    }
    await serve.post('/end_task', { task_id: 'another' })
  })
  afterAll(() => serve.discard())

  it('are evaluated as they are recorded', async () => {
    for (const members of steps.slice(0, 60)) {
      const { status } = await serve.call('POST', '/evaluate', { raw: evaluateText(members) })
      expect([members, status]).toEqual([members, 200])
    }
  })

  it('are rejected when readers could disagree about them, or when they are too deep', async () => {
    for (const text of rejected)
      for (const [to, raw] of [
        ['/record', recordText(`,"input":${text}`)],
        ['/evaluate', evaluateText(`,"input":${text}`)],
      ] as const)
        expect([text, to, (await serve.call('POST', to, { raw })).status]).toEqual([text, to, 400])
  })

  it('are in the trace as they were sent, in lines that every reader accepts', () => {
    const lines = readFileSync(path(), 'utf8').trimEnd().split('\n')
    const read = lines.map((line) => {
      const reading = parseStoredJson(line)
      expect([line.slice(0, 2000), reading.problem]).toEqual([line.slice(0, 2000), null])
      return { line, value: (reading.problem === null ? reading.value : {}) as Record<string, unknown> }
    })
    const own = read.filter(({ value }) => value.kind === 'step')
    expect(own.map(({ value }) => payloadText(value))).toEqual(recorded)
    for (const { line } of own)
      expect([line.slice(0, 2000), parseStrictJson(line).problem]).toEqual([line.slice(0, 2000), null])
    const incidents = read.filter(({ value }) => value.kind === 'incident')
    expect(incidents).toHaveLength(recorded.length)
    expect(incidents.every(({ value }) => isDeeperThan(value, 180))).toBe(true)
  })

  it('are recalled as they were recorded', async () => {
    expect(existsSync(path())).toBe(true)
    const recall = createRecall(fileBytes(path()), () => undefined)
    expect(await recall.holds('t')).toBe(true)
    const { steps: past } = await recall.steps('t')
    expect(past.map(({ step }) => payloadText(step as unknown as Record<string, unknown>))).toEqual(recorded)
  })

  it('are explained', async () => {
    const last = steps.length
    for (const step of [1, 17, last]) {
      const args = [
        'explain',
        join(serve.folder, 'deep.yaml'),
        '--trace',
        path(),
        '--task',
        't',
        '--step',
        String(step),
      ]
      const { code, out, err } = await runSvc([...args, '--json'])
      expect([step, code, err]).toEqual([step, 0, ''])
      expect(payloadText((JSON.parse(out) as { evaluated: Record<string, unknown> }).evaluated)).toBe(
        recorded[step - 1],
      )
      if (step === last) expect((await runSvc(args)).code).toBe(0)
    }
  })

  it('are explained from a file of steps as deep as a request can be, and no deeper', async () => {
    for (const [levels, code] of [
      [63, 0],
      [64, 1],
    ] as const) {
      const file = join(serve.folder, `${levels}.jsonl`)
      writeFileSync(file, `{"task_id":"t","step_type":"step.resource","input":${deepObject(levels)}}\n`)
      const ran = await runSvc(['explain', join(serve.folder, 'deep.yaml'), '--trace', file, '--step', '1'])
      expect([levels, ran.code]).toEqual([levels, code])
      expect(ran.err).toBe(code === 0 ? '' : `svc explain: ${file}:1: the step is nested deeper than 64 levels\n`)
    }
  })
})

describe('JSON that is sent', () => {
  it('is accepted by every endpoint, and is the same value', () => {
    const doubles = [2 ** 53, -(2 ** 53), 1.7322624e18, 1e20, -1e20, 999999999999999900000, 1e21, 0.1, 5e-324, -0]
    const numbers = fc.oneof(fc.constantFrom(...doubles), fc.double({ noNaN: true, noDefaultInfinity: true }))
    const texts = fc.constantFrom('9007199254740993', '"9007199254740993', '\\"9007199254740993,', ':9007199254740993')
    const value = fc.array(fc.oneof(numbers, texts, fc.dictionary(texts, numbers)), { maxLength: 6 })
    fc.assert(
      fc.property(value, (one) => {
        const reading = parseStrictJson(requestJson(one))
        expect(reading.problem).toBeNull()
        if (reading.problem === null) expect(canonical(reading.value)).toBe(canonical(one))
      }),
      { numRuns: runs(1000) },
    )
    expect(requestJson({ a: 'x', n: 1.7322624e18 })).toBe('{"a":"x","n":1732262400000000000.0}')
  })
})
