// `npm run bench`: one table with ratios, and bench.json. `npm run bench -- evaluate peers` runs and prints these alone.
// Absolute numbers are printed and never asserted.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { benchBundle } from './bundle.js'
import { benchDashboard } from './dashboard.js'
import { benchEvaluate } from './evaluate.js'
import { benchFirstStart } from './first-start.js'
import { benchImpact } from './impact.js'
import { benchLists } from './lists.js'
import { benchLogs } from './logs.js'
import { benchMemory } from './memory.js'
import { benchPeers } from './peers.js'
import { benchRegister } from './register.js'
import { benchReplay } from './replay.js'
import { benchResync } from './resync.js'
import { benchSecrets } from './secrets.js'
import { benchServe } from './serve.js'
import { benchTasks } from './tasks.js'
import { benchVerify } from './verify.js'

export interface Row {
  readonly what: string
  readonly measured: string
  readonly reference: string
  /** Relative to the reference; higher is better for a rate, lower for a time. */
  readonly ratio: string
  readonly bar: string
}

const benches: Readonly<Record<string, () => Row[] | Promise<Row[]>>> = {
  evaluate: benchEvaluate,
  peers: benchPeers,
  verify: benchVerify,
  replay: benchReplay,
  serve: benchServe,
  memory: benchMemory,
  first_start: benchFirstStart,
  logs: benchLogs,
  lists: benchLists,
  dashboard: benchDashboard,
  tasks: benchTasks,
  bundle: benchBundle,
  secrets: benchSecrets,
  register: benchRegister,
  resync: benchResync,
  impact: benchImpact,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) {
  console.error(`unknown bench \`${unknown.join(' ')}\`; write any of ${Object.keys(benches).join(', ')}`)
  process.exit(2)
}
const rows: Row[] = []
for (const [name, bench] of Object.entries(benches))
  if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await bench()))
const columns = ['what', 'measured', 'reference', 'ratio', 'bar'] as const
const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)))
const line = (cells: readonly string[]) =>
  cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()

console.log(`${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}\n`)
console.log(line(columns))
for (const row of rows) console.log(line(columns.map((column) => row[column])))
if (wanted.length === 0)
  writeFileSync('bench.json', `${JSON.stringify({ node: process.version, cores: cpus().length, rows }, null, 2)}\n`)
