// The CPU time of the platform for each new agent, which gets the baseline.
import { startPostgres } from '../support/server/postgres.js'
import { cpuSeconds } from './cpu.js'
import { startBench } from './logs.js'
import type { Row } from './main.js'

const agents = 200
const concurrent = 8

export async function benchRegister(): Promise<Row[]> {
  const postgres = await startPostgres()
  if (postgres === null) return []
  const { platform, stop } = await startBench({ SVC_DATABASE_URL: postgres.emptyDatabase() })
  const headers = { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' }
  const register = async (agent_key: string) => {
    const body = JSON.stringify({ agent_key, name: agent_key, purpose: 'measures', declared_tools: ['refund'] })
    const response = await fetch(`${platform.url}/api/v1/agents`, { method: 'POST', headers, body })
    if (response.status !== 201) throw new Error(await response.text())
  }
  for (let index = 0; index < 20; index += 1) await register(`warm-${index}`)
  const [cpu, start] = [cpuSeconds(platform.pid), performance.now()]
  let next = 0
  const registerNext = async () => {
    while (next < agents) await register(`agent-${next++}`)
  }
  await Promise.all(Array.from({ length: concurrent }, registerNext))
  const used = ((cpuSeconds(platform.pid) - cpu) * 1000) / agents
  const wall = (performance.now() - start) / agents
  await stop()
  await postgres.remove()
  const what = `a new agent, of ${agents} from ${concurrent} callers, PostgreSQL: CPU of the platform`
  const reference = `wall ${wall.toFixed(1)} ms`
  return [{ what, measured: `${used.toFixed(1)} ms`, reference, ratio: '–', bar: '≤ 20 ms' }]
}
