// A platform in a process of its own, which measures an impact when it is asked: the thread that answers requests reads the tasks.
import type { AddressInfo } from 'node:net'
import { parseManifest } from '@svc/engine'
import {
  createPlatform,
  type Ground,
  type ImpactReport,
  impactOf,
  type Reading,
  type Room,
  readConfig,
} from '@svc/platform'
import { tasksOf } from '../support/http/task-fill.js'

const built = (file: string) => import(new URL(`../../../platform/dist/${file}`, import.meta.url).href)
const { withSnapshot } = (await built('db/db.js')) as typeof import('../../platform/db/db.js')
const { scopeOf } = (await built('db/scope.js')) as typeof import('../../platform/db/scope.js')
const { noRoom } = (await built('room.js')) as typeof import('../../platform/room.js')

export interface FillCommand {
  readonly fill: { readonly agent_ids: readonly string[]; readonly tasks: number; readonly steps: number }
}
export interface ImpactCommand {
  readonly impact: {
    readonly repo_id: number
    readonly manifest_path: string
    readonly text: string
    readonly tasks: number
  }
}
export interface Measured {
  readonly report: ImpactReport
  readonly seconds: number
  /** CPU seconds of this process with all its threads. */
  readonly cpu: number
  /** MiB at most, and before. */
  readonly peak: number
  readonly before: number
}

const { value } = readConfig(process.env)
let ground: Ground | null = null
const platform = await createPlatform(value, Date.now, undefined, async (given): Promise<Room> => {
  ground = given
  return noRoom(given)
})
await new Promise<void>((resolve) => platform.listener.listen(0, '127.0.0.1', () => resolve()))
const { db, first_workspace: org_id } = ground as unknown as Ground
const { port } = platform.listener.address() as AddressInfo

process.on('message', async (command: FillCommand | ImpactCommand | 'stop') => {
  if (command === 'stop') {
    await platform.close()
    process.exit(0)
  }
  process.send?.('fill' in command ? await fill(command) : await measure(command))
})
process.send?.({ url: `http://127.0.0.1:${port}`, ...platform.credentials })

async function fill({ fill: { agent_ids, tasks, steps } }: FillCommand) {
  const { rows } = await db.pool.query('select size from org_log where org_id = $1', [org_id])
  await db.pool.query(tasksOf(org_id, agent_ids, tasks, steps, Number(rows[0].size)))
  await db.pool.query('analyze')
  return {}
}

async function measure({ impact: { repo_id, manifest_path, text, tasks } }: ImpactCommand): Promise<Measured> {
  const scope = scopeOf(org_id, { kind: 'system', id: 'bench' })
  const read: Reading = (work) => withSnapshot(db, scope, work)
  const { value: manifest, lines } = parseManifest(text, manifest_path)
  if (manifest === null) throw new Error('the manifest is invalid')
  const request = {
    repo_id,
    changes: [{ manifest_path, next: { manifest, file: manifest_path, lines } }],
    days: 30,
    max_tasks: tasks,
    max_steps: 300_000,
  }
  const before = process.memoryUsage.rss() / 2 ** 20
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss() / 2 ** 20)
  }, 20)
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  const report = await impactOf(read, scope, request, { clock: Date.now, seed: 'bench' })
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(timer)
  return { report, seconds, cpu: (user + system) / 1e6, peak, before }
}
