// `npm run demo`: a platform with a workspace full of history, on this machine and without an account.
// `--once` ends after the start, `--port N` serves the platform on a fixed port.
import { parseArgs } from 'node:util'
import { openWorkspace } from './filled.js'

const { values } = parseArgs({ options: { once: { type: 'boolean' }, port: { type: 'string', default: '0' } } })
const t = performance.now()
const workspace = await openWorkspace({ port: Number(values.port) }, Date.now())
const { company, agents, runs, steps, link } = workspace
console.log(
  `\nsign in   ${link}\nAPI key   ${company.platform.api_key}\n${agents.size} agents, ${runs} tasks with ${steps} steps`,
)
console.log(((performance.now() - t) / 1000).toFixed(1), 's')
if (values.once !== true)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
await workspace.close()
process.exit()
