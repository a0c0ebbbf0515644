// Every route that changes something records an event, and docs/events.md describes every kind.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { offerMoves } from '../../../platform/access/commands/offer-moves.js'
import { transitions } from '../../../platform/incidents/commands/move-incident.js'
import { routes } from '../../../platform/routes.js'
import { documentedKinds, eventRows, system, tableKinds } from '../../support/http/event-rows.js'

const root = new URL('../../../', import.meta.url).pathname

/** The kinds in the files that record events, which no store does; a kind that is made from a table is written out. */
function kindsInCode(): string[] {
  const files = ['platform', 'app'].flatMap((folder) =>
    (readdirSync(join(root, folder), { recursive: true }) as string[])
      .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules|store)\//.test(path))
      .map((path) => readFileSync(join(root, folder, path), 'utf8')),
  )
  const recording = files.filter((text) => /\b(recordEvents|(?<!\.)note[A-Z]?\w*)\(/.test(text))
  // What triggers an action is not an event.
  const found = recording.flatMap((text) =>
    [...text.matchAll(/(?<!\bon: )'([a-z_]+\.[a-z_]+)'/g)].map(([, kind]) => kind ?? ''),
  )
  const made = {
    incident: Object.values(transitions).map(({ to }) => to),
    offer: Object.values(offerMoves).map(({ to }) => to),
  }
  const tables = recording.flatMap((text) => [...text.matchAll(/`([a-z_]+)\.\$\{to\}`/g)].map(([, name]) => name ?? ''))
  expect(tables.sort()).toEqual(Object.keys(made))
  return [...new Set([...found, ...Object.entries(made).flatMap(([of, states]) => states.map((to) => `${of}.${to}`))])]
}

describe('events', () => {
  it('have kinds that docs/events.md describes, and no others', () => {
    expect([...documentedKinds].sort()).toEqual(kindsInCode().sort())
    expect(documentedKinds).toEqual([...new Set(documentedKinds)])
  })

  it('are described for every route that is not GET', () => {
    const changing = routes.filter(({ method }) => method !== 'get')
    const ats = changing.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    expect(eventRows.map(({ at }) => at).sort()).toEqual(ats.sort())
  })

  it.each(eventRows)('of $at are checked, or there is a reason for none', (row) => {
    const { events = [], none, run } = row
    expect(events.length === 0).toBe(none !== undefined)
    for (const kind of events) expect(documentedKinds).toContain(kind)
    if (run === undefined) expect(tableKinds(row)).toEqual(expect.arrayContaining([...events]))
  })

  it('are all recorded by a route, or by the system', () => {
    const known = new Set([...Object.keys(system), ...eventRows.flatMap(({ events = [] }) => events)])
    expect(documentedKinds.filter((kind) => !known.has(kind))).toEqual([])
  })
})
