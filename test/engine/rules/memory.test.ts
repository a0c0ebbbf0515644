// Labels of what agents read from their memories: the cases of test/cases/memory.yaml through the local engine, and its limits.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonMap, Step } from '@svc/schemas'
import { afterEach, describe, expect, it } from 'vitest'
import type { MemoryLabel } from '../../../engine/memory/labels.js'
import { createMemoryTable, type MemoryTable } from '../../../engine/memory/table.js'
import { memoryFile } from '../../../engine/trace/memory/memory-file.js'
import { type EngineHere, engineHere } from '../../support/engine/local-engine.js'
import { type MemoryStep, memoryCases, stepOf } from '../../support/engine/memory-cases.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-memory-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const path = join(folder, 'data', 'memory.jsonl')
const fail = (line: string) => {
  throw new Error(line)
}
const started = () => engineHere({ store: memoryFile(path, fail) })

describe.each(memoryCases())('$name', ({ steps }) => {
  it('has the labels', async () => {
    let here = started()
    for (const one of steps) {
      if (one === 'restart') here = started()
      else expect(await labelsAfter(here, one), JSON.stringify(one)).toEqual(one.labels ?? null)
    }
  })
})

async function labelsAfter({ engine, trace }: EngineHere, one: MemoryStep): Promise<unknown> {
  await engine.record({ step: stepOf(one) })
  const line = trace.findLast(({ kind }) => kind === 'step') as unknown as Step
  const stated = line.meta?.['svc.memory'] as { trust: unknown; parts: JsonMap[] } | undefined
  if (stated === undefined) return null
  const { trust, parts } = stated
  if (parts.length === 0) return trust
  expect(trust).toBeNull()
  return Object.fromEntries(parts.map(({ path: at, trust: label }) => [(at as string[]).join('.'), label]))
}

describe('the file', () => {
  const write = (text: string) => stepOf({ task: 'a', verb: 'POST', input: { title: 'rent', text } })
  const mail = stepOf({ task: 'a', read: 'third_party' })
  const labelOf = async (here: EngineHere, title: string) => {
    const read: MemoryStep = { task: 'z', verb: 'GET', input: { title }, output: { text: 'a summary' } }
    return labelsAfter(here, read)
  }

  it('holds no text', async () => {
    const { engine } = started()
    await engine.record({ step: mail })
    await engine.record({ step: write('Pay Mallory, mallory@example.org, account DE89370400440532013000') })
    const text = readFileSync(path, 'utf8')
    for (const word of ['rent', 'mallory', 'account', 'de8937', 'notes']) expect(text.toLowerCase()).not.toContain(word)
    expect(text).toContain('"agent":"clerk"')
  })

  it('is read without the line that a crash has cut off', async () => {
    const { engine } = started()
    await engine.record({ step: mail })
    await engine.record({ step: write('a note') })
    appendFileSync(path, '{"agent":"clerk","label":"third_pa')
    const again = started()
    expect(await labelOf(again, 'rent')).toBe('third_party')
    await again.engine.record({ step: mail })
    await again.engine.record({ step: stepOf({ task: 'a', verb: 'POST', input: { title: 'plan' } }) })
    expect(await labelOf(started(), 'plan')).toBe('third_party')
  })

  it('is shared by the engines of a folder', async () => {
    const [one, other] = [started(), started()]
    await one.engine.record({ step: mail })
    await one.engine.record({ step: write('a note') })
    expect(await labelOf(other, 'rent')).toBe('third_party')
    await other.engine.record({ step: stepOf({ task: 'b', verb: 'DELETE', input: { title: 'rent' } }) })
    expect(await labelOf(one, 'rent')).toBeNull()
  })

  it('is written again when it was removed', async () => {
    const { engine } = started()
    await engine.record({ step: mail })
    await engine.record({ step: write('a note') })
    rmSync(path)
    await engine.record({ step: stepOf({ task: 'a', verb: 'POST', input: { title: 'plan' } }) })
    const again = started()
    expect([await labelOf(again, 'rent'), await labelOf(again, 'plan')]).toEqual(['third_party', 'third_party'])
  })

  it('becomes smaller at the start when most of it is not needed', async () => {
    const { engine } = started()
    await engine.record({ step: mail })
    await engine.record({ step: write('a note') })
    const line = `${JSON.stringify({ agent: 'clerk', label: 'own', add: ['x'.repeat(11)] })}\n`
    const gone = `${JSON.stringify({ agent: 'clerk', remove: ['x'.repeat(11)] })}\n`
    appendFileSync(path, (line + gone).repeat(12_000))
    expect(statSync(path).size).toBeGreaterThan(1024 * 1024)
    const again = started()
    expect(statSync(path).size).toBeLessThan(1000)
    expect(await labelOf(again, 'rent')).toBe('third_party')
  })

  it('that is another file is an error', () => {
    mkdirSync(join(folder, 'data'), { recursive: true })
    writeFileSync(path, '{"kind":"step"}\n')
    expect(started).toThrow('is not a memory index: move it away')
  })

  it('that cannot be created is reported once, and fails no step', async () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'file'), '')
    const reports: string[] = []
    const here = engineHere({ store: memoryFile(join(folder, 'file', 'memory.jsonl'), (line) => reports.push(line)) })
    await here.engine.record({ step: mail })
    for (const text of ['a note', 'another one']) await here.engine.record({ step: write(text) })
    expect(await labelOf(here, 'rent')).toBe('third_party')
    expect(reports).toEqual([expect.stringContaining('the memory index cannot be written')])
  })

  it('that cannot be written is reported once, and its lines are written later', async () => {
    const reports: string[] = []
    const here = engineHere({ store: memoryFile(path, (line) => reports.push(line)) })
    await here.engine.record({ step: mail })
    await here.engine.record({ step: write('a note') })
    rmSync(path)
    mkdirSync(path)
    for (const title of ['plan', 'list'])
      await here.engine.record({ step: stepOf({ task: 'a', verb: 'POST', input: { title } }) })
    expect(reports).toEqual([expect.stringContaining('the memory index cannot be written')])
    expect([await labelOf(here, 'rent'), await labelOf(here, 'list')]).toEqual(['third_party', 'third_party'])
    rmSync(path, { recursive: true })
    await here.engine.record({ step: stepOf({ task: 'a', verb: 'POST', input: { title: 'last' } }) })
    expect(reports.at(-1)).toContain('again')
    const again = started()
    for (const title of ['rent', 'plan', 'list', 'last']) expect(await labelOf(again, title), title).toBe('third_party')
  })
})

describe('the limits', () => {
  const limits = { maxAgents: 2, maxEntries: 30, maxEntriesOfAgent: 20 }
  const digests = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)
  const changes = (label: MemoryLabel | null, names: readonly string[]) => new Map(names.map((name) => [name, label]))
  const filled = (...writes: (readonly [agent: string, label: MemoryLabel, count: number])[]) => {
    const table = createMemoryTable(limits)
    for (const [index, [agent, label, count]] of writes.entries())
      for (const line of table.linesFor(agent, changes(label, digests(`${index}-`, count)))) table.apply(line)
    return table
  }
  const overflowed = (table: MemoryTable, ...agents: string[]) => agents.filter((agent) => table.of(agent).overflow)

  it('of one agent: its whole memory counts as content of others', () => {
    const table = filled(['a', 'third_party', 20], ['a', 'third_party', 1])
    expect(overflowed(table, 'a', 'b')).toEqual(['a'])
    expect(table.counts()).toEqual({ agents: 1, entries: 0, overflowed: 1 })
    expect(table.linesFor('a', changes(null, ['0-1']))).toEqual([])
  })

  it('of all agents: the agent that exceeds it', () => {
    expect(overflowed(filled(['a', 'public', 20], ['b', 'public', 11]), 'a', 'b', 'c')).toEqual(['b'])
  })

  it('of agents: every agent without an entry', () => {
    const table = filled(['a', 'public', 1], ['b', 'public', 1], ['c', 'public', 1])
    expect(overflowed(table, 'a', 'b', 'c', 'd')).toEqual(['c', 'd'])
  })

  it('leave out texts of the agent’s own, without an overflow', () => {
    const table = filled(['a', 'own', 10], ['a', 'own', 5], ['a', 'third_party', 10])
    expect(overflowed(table, 'a')).toEqual([])
    expect(table.counts().entries).toBe(20)
  })

  it('are the same after a restart', () => {
    const table = filled(['a', 'third_party', 20], ['a', 'third_party', 1], ['b', 'own', 4], ['c', 'public', 1])
    const again = createMemoryTable(limits)
    for (const line of table.lines()) again.apply(line)
    expect(again.lines()).toEqual(table.lines())
    expect(overflowed(again, 'a', 'b', 'c')).toEqual(['a', 'c'])
  })

  it('of one step: a longer text overflows, a longer output has the label of the memory', async () => {
    const { engine, trace, notes } = engineHere()
    const long = Array.from({ length: 25_000 }, (_, index) => `word${index}`).join(' ')
    const read = stepOf({ task: 'b', verb: 'GET', output: { text: long } })
    await engine.record({ step: stepOf({ task: 'a', read: 'third_party' }) })
    await engine.record({ step: stepOf({ task: 'a', verb: 'POST', input: { key: 'short' } }) })
    await engine.record({ step: read })
    expect(trace.at(-1)).toMatchObject({ meta: { 'svc.memory': { trust: 'third_party', parts: [] } } })
    await engine.record({ step: stepOf({ task: 'a', verb: 'POST', input: { key: 'long', text: long } }) })
    expect(notes).toEqual([
      'the memory of agent `clerk` is larger than is followed: all of it counts as content of others',
    ])
    await engine.record({ step: stepOf({ task: 'c', verb: 'GET', output: { text: 'tomatoes' } }) })
    expect(trace.at(-1)).toMatchObject({ meta: { 'svc.memory': { trust: 'public', parts: [] } } })
  })

  it('of tasks: one that is forgotten may have received anything', async () => {
    const { engine, trace } = engineHere()
    await engine.record({ step: stepOf({ task: 'old', read: 'own' }) })
    for (let index = 0; index < 10_000; index++)
      await engine.record({ step: stepOf({ task: `${index}`, read: 'own' }) })
    for (const task of ['old', '9999'])
      await engine.record({ step: stepOf({ task, verb: 'POST', input: { key: `of ${task}` } }) })
    const labels: unknown[] = []
    for (const task of ['old', '9999']) {
      const read: MemoryStep = { task: 'new', verb: 'GET', input: { key: `of ${task}` }, output: {} }
      await engine.record({ step: stepOf(read) })
      labels.push((trace.at(-1) as unknown as Step).meta?.['svc.memory'] ?? null)
    }
    expect(labels).toEqual([{ trust: 'public', parts: [] }, null])
  })
})
