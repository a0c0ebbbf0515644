// Entries that an honest sender may send. Every entry that the API accepts must be valid for every verifier.
import { canonical, parseJson } from '@svc/proof'
import type { BatchAnswer, LogCheckpoint, LogList, Verification } from '@svc/schemas'
import fc from 'fast-check'
import { expect, vi } from 'vitest'
import { deepObject, oddObject, oddString, rejectedValues } from '../engine/odd-json.js'
import type { TestPlatform } from '../server/platform.js'
import { soon } from '../server/soon.js'

/** How an entry is sent; a JSON batch adds two levels around each entry. */
type Way = 'single' | 'json' | 'ndjson'

interface HonestEntry {
  /** Further members as text that begins with a comma, or ''. */
  readonly members: string
  readonly way: Way
  /** False for an entry that the API must reject. */
  readonly accepted: boolean
}

const deepest = 64
const levelsIn = { single: deepest - 1, ndjson: deepest - 1, json: deepest - 3 } as const
const fields = ['input', 'output', 'properties', 'meta'] as const
const field = fc.constantFrom(...fields)

const ordinary = fc
  .tuple(
    fc.dictionary(field, oddObject, { noNullPrototype: true }),
    fc.option(oddString),
    fc.option(oddString, { freq: 1 }),
  )
  .map(([payload, name, prev_hash]) => {
    const members = Object.entries(payload).map(([own, text]) => `,"${own}":${text}`)
    const named = name === null || (JSON.parse(name) as string).length > 1000 ? '' : `,"step_name":${name}`
    const link = prev_hash === null || !isLink(JSON.parse(prev_hash) as string) ? '' : `,"prev_hash":${prev_hash}`
    return `${members.join('')}${named}${link}`
  })
const isLink = (text: string) => text.length <= 128 && !text.includes('\0')
const nestedBy = (way: Way) =>
  fc
    .tuple(field, fc.oneof(fc.constant(levelsIn[way]), fc.integer({ min: 1, max: levelsIn[way] })), oddString)
    .map(([own, levels, name]) => `,"${own}":${deepObject(levels, name)}`)
/** Entries that the API rejects: too deep, with a value that parsers read differently, or with one that cannot be stored. */
const rejectedBy = (way: Way) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant(',"prev_hash":"\\u0000"') },
    { weight: 19, arbitrary: unreadableBy(way) },
  )
const unreadableBy = (way: Way) =>
  fc.tuple(field, fc.constantFrom(null, ...rejectedValues)).map(([own, value]) => {
    const text = value === null ? deepObject(levelsIn[way] + 1) : `{"a":[${value}]}`
    return `,"${own}":${text}`
  })

/** Consecutive entries that are sent the same way. */
const runBy = (way: Way, minLength: number, maxLength: number) => {
  const accepted = fc.oneof({ weight: 3, arbitrary: ordinary }, { weight: 1, arbitrary: nestedBy(way) })
  const entryOf =
    (isAccepted: boolean) =>
    (members: string): HonestEntry => ({ members, way, accepted: isAccepted })
  // A batch as JSON is accepted or rejected as a whole.
  const weight = way === 'json' ? 0 : 1
  const entry = fc.oneof(
    { weight: 10, arbitrary: accepted.map(entryOf(true)) },
    { weight, arbitrary: rejectedBy(way).map(entryOf(false)) },
  )
  return fc.array(entry, { minLength, maxLength, size: 'max' })
}
const run = fc.oneof(runBy('single', 1, 8), runBy('json', 1, 60), runBy('ndjson', 1, 60))

/** Entries that were reported as altered, or kept with another name: numbers of Python's json, depths, escaped names. */
const known: readonly HonestEntry[] = [
  { members: ',"input":{"started_ns":1.7322624e+18}', way: 'single', accepted: true },
  { members: ',"input":{"a":9007199254740993.0,"b":[1e20,-1e20,1e21]}', way: 'json', accepted: true },
  { members: `,"output":${deepObject(levelsIn.single)}`, way: 'single', accepted: true },
  { members: `,"meta":${deepObject(levelsIn.ndjson, '"__proto__"')}`, way: 'ndjson', accepted: true },
  { members: `,"properties":${deepObject(levelsIn.json)}`, way: 'json', accepted: true },
  { members: ',"input":{"h":[],"\\\\":0}', way: 'single', accepted: true },
  { members: ',"input":{"h":1,"\\"":2}', way: 'single', accepted: true },
  { members: ',"output":{"h":1,"\\\\":1,"\\"":2}', way: 'ndjson', accepted: true },
  { members: ',"output":{"h":1,"\\"":1,"\\u0022":2}', way: 'ndjson', accepted: false },
]

/** `count` accepted entries with rejected ones among them, determined by the seed; the known ones come first. */
export function honestEntries(count: number, seed: number): HonestEntry[] {
  const entries = [...known]
  let missing = count - known.filter(({ accepted }) => accepted).length
  for (let more = 0; missing > 0; more++)
    for (const entry of fc.sample(run, { numRuns: 20, seed: seed + more }).flat()) {
      if (missing > 0) entries.push(entry)
      if (entry.accepted) missing -= 1
    }
  return entries
}

const taskSize = 10
const batchSize = 100

interface Placed extends HonestEntry {
  readonly task_id: string
  readonly text: string
}

/** Entries in tasks of ten; the step number of a rejected entry goes to the next one. */
function placed(entries: readonly HonestEntry[]): Placed[] {
  let steps = 0
  return entries.map((one, at) => {
    const task_id = `task ${Math.floor(at / taskSize)}`
    if (at % taskSize === 0) steps = 0
    if (one.accepted) steps += 1
    const step = Math.max(1, steps)
    const step_type = step === 1 ? 'START_NODE' : at % 3 === 0 ? 'step.resource' : 'LLM_CALL'
    const text = `{"task_id":"${task_id}","step":${step},"step_type":"${step_type}","timestamp":"2026-01-05T09:00:00Z"${one.members}}`
    return { ...one, task_id, text }
  })
}

export interface Sent {
  readonly accepted: number
  readonly rejected: number
  readonly tasks: readonly string[]
}

/** Sends the entries in order, each in its way, and compares the stored values. */
export async function sendHonestEntries(platform: TestPlatform, entries: readonly HonestEntry[]): Promise<Sent> {
  const all = placed(entries)
  for (let from = 0; from < all.length; ) {
    const [first] = all.slice(from)
    if (first === undefined) break
    const size = first.way === 'single' ? 1 : batchSize
    const others = all.slice(from, from + size).findIndex(({ way: by }) => by !== first.way)
    const group = all.slice(from, from + (others < 0 ? size : others))
    from += group.length
    if (first.way === 'single') await sendOne(platform, first)
    else await sendBatch(platform, group, first.way)
  }
  const kept = all.filter(({ accepted }) => accepted)
  const tasks = [...new Set(kept.map(({ task_id }) => task_id))]
  for (const task_id of tasks)
    await readBack(
      platform,
      task_id,
      kept.filter((one) => one.task_id === task_id),
    )
  return { accepted: kept.length, rejected: all.length - kept.length, tasks }
}

const rejections = [400, 422]

async function sendOne(platform: TestPlatform, { text, accepted }: Placed): Promise<void> {
  const { status } = await platform.call('POST', '/api/v1/logs', { as: 'key', raw: text })
  expect([text, accepted ? status === 201 : rejections.includes(status), status]).toEqual([text, true, status])
}

async function sendBatch(platform: TestPlatform, group: readonly Placed[], by: Way): Promise<void> {
  const texts = group.map(({ text }) => text)
  const type = by === 'json' ? 'application/json' : 'application/x-ndjson'
  const raw = by === 'json' ? `{"entries":[${texts.join()}]}` : texts.join('\n')
  const sent = { as: 'key', raw, headers: { 'content-type': type } } as const
  const { status, body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', sent)
  expect([status, body.results?.length ?? body]).toEqual([200, group.length])
  for (const [at, { text, accepted }] of group.entries()) {
    const own = body.results[at]?.status ?? 0
    expect([text, accepted ? own === 201 : rejections.includes(own), own]).toEqual([text, true, own])
  }
}

async function readBack(platform: TestPlatform, task_id: string, sent: readonly Placed[]): Promise<void> {
  const query = `?task_id=${encodeURIComponent(task_id)}&limit=200`
  const { status, body } = await platform.call<LogList>('GET', `/api/v1/logs${query}`)
  expect([status, body.logs.length]).toEqual([200, sent.length])
  for (const [at, { text }] of sent.entries()) {
    const given = parseJson(text) as Record<string, unknown>
    const stored = body.logs[at] as unknown as Record<string, unknown>
    for (const field of [...fields, 'step_name'])
      expect([text, field, canonical(stored[field])]).toEqual([text, field, canonical(given[field] ?? null)])
  }
}

/** Tasks that verification reports as altered, with the finding. */
export async function alteredTasks(platform: TestPlatform, tasks: readonly string[]): Promise<unknown[]> {
  const found: unknown[] = []
  for (const task_id of tasks) {
    const { status, body } = await platform.call<Verification>(
      'GET',
      `/api/v1/tasks/${encodeURIComponent(task_id)}/verify`,
    )
    expect([task_id, status]).toEqual([task_id, 200])
    // A sender may claim any previous entry: that finding concerns the sender.
    const issues = body.sequence.issues.filter(({ code }) => code !== 'client_prev_mismatch')
    if (!body.integrity.ok || issues.length > 0) found.push([task_id, body.integrity.first_bad, issues])
  }
  return found
}

/** The key of the log, after it has signed all current entries. */
export async function keyOnceSigned(platform: TestPlatform): Promise<string> {
  const step = { task_id: 'last', step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
  const last = await platform.call<{ log_index: number }>('POST', '/api/v1/logs', { as: 'key', body: step })
  expect(last.status).toBe(201)
  return vi.waitFor(async () => {
    const { status, body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    expect([status, body.size > last.body.log_index]).toEqual([200, true])
    return body.key
  }, soon)
}
