// Many steps through `svc serve` while the platform is away half the time and the engine is killed in the middle: nothing is lost,
// doubled or out of order, and disk and memory are bounded. SVC_SPOOL_STEPS sets the number of steps.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { startTracePlatform } from '../../support/engine/trace-platform.js'
import { soon } from '../../support/server/soon.js'

const total = Number(process.env.SVC_SPOOL_STEPS || 20_000)
const workers = 16
const stepsOfTask = 100
const phases = 20

/** Records a step; resolves with false when the engine was killed before it answered. */
function recordOn(serve: Serve, agent: Agent, task_id: string, step: number): Promise<boolean> {
  const body = JSON.stringify({
    step: {
      task_id,
      step,
      step_type: 'step.resource',
      verb: 'GET',
      step_name: 'read',
      input: { path: `/files/${step}` },
    },
  })
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${serve.url}/record`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
      response.on('error', () => resolve(false))
    })
    sent.on('error', () => resolve(false))
    sent.end(body)
  })
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).reduce((sum, entry) => {
    const size = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
    return sum + (entry.isFile() ? size : 0)
  }, 0)
}

/** Resident memory, KiB; the largest so far. */
const memoryOf = ({ pid }: Serve) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

it.skipIf(process.platform !== 'linux')(
  `${total} steps arrive once and in order`,
  async () => {
    const platform = await startTracePlatform({ numbers_only: true })
    let serve = await startServe([], {}, platform.env)
    const answered = new Map<string, number>()
    const measured = { disk: 0, memory: 0, slowest: 0, unanswered: 0 }
    let begun = 0
    let tasks = 0
    const work = async (engine: Serve, until: number, agent: Agent) => {
      while (begun < until) {
        const task_id = `task-${tasks++}`
        for (let step = 1; step <= stepsOfTask && begun < until; step++) {
          begun += 1
          const start = performance.now()
          if (!(await recordOn(engine, agent, task_id, step))) {
            measured.unanswered += 1
            return
          }
          measured.slowest = Math.max(measured.slowest, performance.now() - start)
          answered.set(task_id, step)
        }
      }
    }
    const load = async (until: number) => {
      const agent = new Agent({ keepAlive: true, maxSockets: workers })
      await Promise.all(Array.from({ length: workers }, () => work(serve, until, agent)))
      agent.destroy()
      measured.disk = Math.max(measured.disk, bytesBelow(join(serve.folder, 'data', 'spool')))
    }
    for (let phase = 1; phase <= phases; phase++) {
      if (phase % 2 === 0) await platform.stop()
      const until = Math.floor((total * phase) / phases)
      if (phase === phases / 2) {
        // The engine is killed while it records, and the rest of the phase goes to the next one.
        const half = load(until)
        await vi.waitFor(() => expect(begun).toBeGreaterThan(until - total / phases / 2), { ...soon, interval: 1 })
        measured.memory = memoryOf(serve)
        serve.signal('SIGKILL')
        await half
        serve = await serve.restart()
      }
      await load(until)
      measured.memory = Math.max(measured.memory, memoryOf(serve))
      if (phase % 2 === 0) await platform.start()
    }
    const known = () => [...answered].filter(([task, last]) => (platform.tasks.get(task)?.length ?? 0) < last)
    await vi.waitFor(() => expect(known()).toEqual([]), { timeout: 500_000, interval: 500 })
    // A step that was written and not answered before the kill arrives as well.
    const arrived = [...platform.tasks.values()].reduce((sum, numbers) => sum + numbers.length, 0)
    const recorded = [...answered.values()].reduce((sum, last) => sum + last, 0)
    expect(recorded + measured.unanswered).toBe(total)
    expect(arrived - recorded).toBeLessThanOrEqual(measured.unanswered)
    for (const numbers of platform.tasks.values()) expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect(platform.faults).toEqual([])
    expect(measured.disk).toBeLessThan((512 + 64 + 16) * 1024 * 1024)
    expect(measured.memory).toBeLessThan(400 * 1024)
    const { disk, memory, slowest } = measured
    const { requests, replayed } = platform.counts
    console.log(
      `${total} steps: disk at most ${(disk / 1048576).toFixed(1)} MiB, memory at most ${Math.round(memory / 1024)} MiB, ` +
        `slowest /record ${slowest.toFixed(1)} ms, ${requests} requests, ${replayed} sent again`,
    )
    await serve.discard()
    await platform.stop()
  },
  2 ** 31 - 1,
)
