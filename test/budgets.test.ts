// Rooms do not grow unnoticed: each has a budget of lines (test/cases/budgets.yaml).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../', import.meta.url))
const budgets = parse(readFileSync(join(root, 'test/cases/budgets.yaml'), 'utf8')) as Readonly<Record<string, number>>
const packages = ['proof', 'engine', 'adapters', 'report', 'cli', 'platform', 'app', 'action', 'test']
/** What a budget may be above the lines of its room, so that a cut is kept. */
const slack = 100
const isSource = (path: string) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path)

/** The lines of each folder of a package, with those below it; files directly in the package are the room of its name. */
function linesByRoom(): Map<string, number> {
  const lines = new Map<string, number>()
  for (const name of packages)
    for (const path of readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).filter(isSource)) {
      const [folder = '', ...below] = path.split('/')
      const room = below.length === 0 ? name : `${name}/${folder}`
      const count = readFileSync(join(root, name, path), 'utf8').split('\n').length - 1
      lines.set(room, (lines.get(room) ?? 0) + count)
    }
  return lines
}

it('the lines of each room are within its budget', () => {
  const wrong = [...linesByRoom()].flatMap(([room, lines]) => {
    const budget = budgets[room] ?? 0
    if (lines > budget) return [`${room}: ${lines} lines, budget ${budget}: say in an ADR what left, or cut`]
    return lines < budget - slack ? [`${room}: ${lines} lines, budget ${budget}: lower it to ${rounded(lines)}`] : []
  })
  expect(wrong).toEqual([])
})

it('each budget is that of a room', () => {
  const rooms = linesByRoom()
  expect(Object.keys(budgets).filter((room) => !rooms.has(room))).toEqual([])
})

/** To the next 50. */
function rounded(lines: number): number {
  return Math.ceil(lines / 50) * 50
}
