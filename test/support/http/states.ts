// State tables: every operation from every state, and concurrent callers (test/cases/states/README.md).
import { readdirSync, readFileSync } from 'node:fs'
import { lazyCheck } from '@svc/engine/parts'
import type { EventList, Problem } from '@svc/schemas'
import { expect } from 'vitest'
import { parse } from 'yaml'
import type { Answer } from '../server/platform.js'

type Kinds = string | readonly string[]

interface Operation {
  /** Method and path. */
  readonly call: string
  readonly body?: unknown
  readonly as?: string
  readonly event?: Kinds
  readonly late?: 'same'
}

type Move = string | { readonly to: string; readonly event: Kinds }

export interface StateTable {
  readonly name: string
  readonly why?: string
  readonly states: Readonly<Record<string, readonly string[]>>
  /** What a rejection names for a state, where it is not the state. */
  readonly names?: Readonly<Record<string, readonly string[]>>
  readonly operations: Readonly<Record<string, Operation>>
  readonly moves: Readonly<Record<string, Readonly<Record<string, Move>>>>
}

type Call = <T = Problem>(method: string, path: string, body?: unknown) => Promise<Answer<T>>

/** A resource of a table, in its first state. */
export interface Subject {
  /** What `{name}` in paths and bodies means; `id` is the subject of its events. */
  readonly values: Readonly<Record<string, string | number>>
  /** Who calls; `default` also reads the events. */
  readonly callers: Readonly<Record<'default', Call> & Record<string, Call>>
  /** The state as the API shows it; null where it shows none. */
  readonly state: () => Promise<string | null>
  /** What leads to states beside the operations. */
  readonly steps?: Readonly<Record<string, () => Promise<unknown>>>
}

const folder = new URL('../../cases/states/', import.meta.url)
const words = { type: 'array', items: { type: 'string' } }
const kinds = { anyOf: [{ type: 'string' }, words] }
const record = (of: object) => ({ type: 'object', additionalProperties: of })
const checkTable = lazyCheck({
  type: 'object',
  required: ['states', 'operations', 'moves'],
  additionalProperties: false,
  properties: {
    why: { type: 'string' },
    states: record(words),
    names: record(words),
    operations: record({
      type: 'object',
      required: ['call'],
      additionalProperties: false,
      properties: {
        call: { type: 'string', pattern: '^(GET|POST|PATCH|DELETE) /' },
        body: { type: 'object' },
        as: { type: 'string' },
        event: kinds,
        late: { type: 'string', enum: ['same'] },
      },
    }),
    moves: record(
      record({
        anyOf: [
          { type: 'string', pattern: '^([a-z_]+|4\\d\\d [A-Za-z_]+)$' },
          { type: 'object', required: ['to', 'event'], properties: { to: { type: 'string' }, event: kinds } },
        ],
      }),
    ),
  },
})

/** All tables. Throws for an invalid one, and for one that leaves out an operation in a state. */
export function stateTables(): StateTable[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
  return files.sort().map((file) => {
    const written: unknown = parse(readFileSync(new URL(file, folder), 'utf8'))
    const [problem] = checkTable(written)
    if (problem !== undefined) throw new Error(`${file}, ${problem.path.join('.')}: ${problem.message}`)
    const table = { ...(written as StateTable), name: file.replace('.yaml', '') }
    for (const state of Object.keys(table.states))
      for (const operation of Object.keys(table.operations))
        if (table.moves[state]?.[operation] === undefined)
          throw new Error(`${file}: no result of ${operation} in ${state}`)
    const documented = Object.values(table.moves)
      .flatMap((row) => Object.values(row))
      .some((move) => /^4/.test(String(move)))
    if (documented !== (table.why !== undefined))
      throw new Error(`${file}: \`why\` explains results such as 404 NOT_FOUND, and nothing else`)
    return table
  })
}

export interface Cell {
  readonly state: string
  readonly operation: string
}

export function cellsOf({ states, operations }: StateTable): Cell[] {
  return Object.keys(states).flatMap((state) => Object.keys(operations).map((operation) => ({ state, operation })))
}

/** The cells from which the operation changes something. */
export function allowedOf(table: StateTable): Cell[] {
  return cellsOf(table).filter((cell) => 'to' in resultOf(table, cell))
}

type Result =
  | { readonly to: string; readonly event: readonly string[] }
  | { readonly same: true }
  | { readonly status: number; readonly code: string }

function resultOf({ moves, operations }: StateTable, { state, operation }: Cell): Result {
  const move = moves[state]?.[operation] ?? ''
  const list = (event: Kinds = []) => (typeof event === 'string' ? [event] : event)
  if (typeof move !== 'string') return { to: move.to, event: list(move.event) }
  if (move === 'same') return { same: true }
  if (move === 'rejected') return { status: 409, code: 'INVALID_TRANSITION' }
  const [status, code] = move.split(' ')
  if (code !== undefined) return { status: Number(status), code }
  return { to: move, event: list(operations[operation]?.event) }
}

/** Brings a new subject into the state of the cell, and checks that it is there. */
async function bring(table: StateTable, subject: Subject, state: string): Promise<void> {
  for (const name of table.states[state] ?? []) {
    const step = subject.steps?.[name]
    if (step !== undefined) await step()
    else expect([name, (await callOf(table, subject, name)).status]).toEqual([name, expect.toSatisfy(isSuccess)])
  }
  expect([state, null]).toContain(await subject.state())
}

const isSuccess = (status: number) => status >= 200 && status < 300

function callOf({ operations }: StateTable, { values, callers }: Subject, name: string): Promise<Answer<Problem>> {
  const { call, body, as = 'default' } = operations[name] as Operation
  const [method = '', path = ''] = call.split(' ')
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(values[key]))
  // A whole text such as `{cut_off}` keeps the type of its value.
  const filled = (_: string, value: unknown) =>
    typeof value === 'string' ? (values[/^\{(\w+)\}$/.exec(value)?.[1] ?? ''] ?? value) : value
  const sent = body === undefined ? undefined : JSON.parse(JSON.stringify(body, filled))
  const caller = callers[as]
  if (caller === undefined) throw new Error(`no caller \`${as}\``)
  return caller(method, fill(path), sent)
}

async function eventsOf({ values, callers }: Subject): Promise<string[]> {
  const { status, body } = await callers.default<EventList>('GET', `/api/v1/events?limit=200&subject=${values.id}`)
  // A member who ended the session, or is not the owner any more, has no list.
  return status === 200 ? body.events.map(({ kind }) => kind).reverse() : []
}

/** Calls the operation in the state; the answer, the next state and the events must be those of the table. */
export async function checkMove(table: StateTable, subject: Subject, cell: Cell): Promise<void> {
  await bring(table, subject, cell.state)
  const before = await eventsOf(subject)
  const answer = await callOf(table, subject, cell.operation)
  const result = resultOf(table, cell)
  expectAnswer(table, cell, answer, result)
  expect(await subject.state()).toSatisfy(oneOf('to' in result ? result.to : cell.state))
  expect(sorted((await eventsOf(subject)).slice(before.length))).toEqual('to' in result ? sorted(result.event) : [])
}

/** The same with several callers at once: they are answered as if they came one after the other. */
export async function checkRace(table: StateTable, subject: Subject, cell: Cell, callers: number): Promise<void> {
  await bring(table, subject, cell.state)
  const before = await eventsOf(subject)
  const sent = await Promise.all(Array.from({ length: callers }, () => callOf(table, subject, cell.operation)))
  // A call beyond the places for readings of Git hosts is answered before it does anything.
  const answers = sent.filter(({ body }) => body.code !== 'RATE_LIMITED')
  const results: Result[] = []
  let { state } = cell
  for (const _ of answers) {
    const result = resultOf(table, { ...cell, state })
    results.push(result)
    if ('to' in result) state = result.to
  }
  const { late } = table.operations[cell.operation] ?? {}
  const wins = results.filter((one) => !('status' in one)).length
  const won = answers.filter(({ status }) => isSuccess(status)).length
  if (late === 'same') expect(won).toBeGreaterThanOrEqual(wins)
  else expect(won).toBe(wins)
  for (const answer of answers.filter(({ status }) => !isSuccess(status))) {
    const rejection = results.find((one) => 'status' in one)
    if (rejection === undefined) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    // Another caller may still be in progress: which state it meets is not fixed.
    expectAnswer(table, { ...cell, state }, answer, rejection, false)
  }
  expect(await subject.state()).toSatisfy(oneOf(state))
  const events = results.flatMap((one) => ('to' in one ? one.event : []))
  expect(sorted((await eventsOf(subject)).slice(before.length))).toEqual(sorted(events))
}

const sorted = (list: readonly string[]) => [...list].sort()
const oneOf = (state: string) => (found: string | null) => found === null || found === state

function expectAnswer(
  table: StateTable,
  cell: Cell,
  { status, body }: Answer<Problem>,
  result: Result,
  namesState = true,
): void {
  if (!('status' in result)) {
    expect([status, isSuccess(status) ? null : body]).toEqual([status, null])
    return
  }
  expect([status, body.code ?? (body as { error?: string }).error]).toEqual([result.status, result.code])
  if (result.code !== 'INVALID_TRANSITION') return
  const shown = (state: string) => (table.names?.[state] ?? [state]).map((name) => `\`${name}\``)
  if (namesState) for (const name of shown(cell.state)) expect(body.detail).toContain(name)
  const from = allowedOf(table).filter(({ operation }) => operation === cell.operation)
  const possible = from.flatMap(({ state }) => shown(state))
  if (possible.length > 0) expect(possible.filter((name) => body.detail?.includes(name))).not.toEqual([])
}
