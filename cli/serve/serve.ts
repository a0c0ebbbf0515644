// `svc serve`: the local engine, next to the agent.
import type { ServeOptions } from '@svc/engine/serve'
import { Command } from 'commander'
import { portOf } from '../port.js'

const example = `
Examples:
  svc serve --baseline
  svc serve --policy-file policies/refunds.yaml --policy-file policies/shared

Then, before each step:
  curl -s http://127.0.0.1:8765/evaluate -H 'Content-Type: application/json' -d '{
    "intended": {"step_type": "step.exec"},
    "context": {"agent_id": "a", "task_id": "t", "environment": "development", "risk_classification": "limited"}}'

Exit codes: 0 stopped, 1 could not start or no policy source, 2 usage`

export function serveCommand(): Command {
  return new Command('serve')
    .description('judge steps before they run, on this machine')
    .option('--baseline', 'the bundled baseline: no credentials, no network')
    .option(
      '--policy-file <path>',
      'a manifest, or a folder of them; repeatable',
      (path, list: string[]) => [...list, path],
      [],
    )
    .option('--host <host>', 'where to listen', '127.0.0.1')
    .option('--port <port>', 'where to listen; 0 takes a free one', portOf, 8765)
    .option('--agent-key <key>', 'the agent whose waivers apply')
    .option(
      '--log-location <place>',
      'file:PATH, stdout or none (default: SVC_LOG_LOCATION, else a file under SVC_DATA_DIR)',
    )
    .option('--token <secret>', 'what callers must send as a bearer token; needed beyond loopback (or SVC_LOCAL_TOKEN)')
    .option('--fail-closed', 'block every step while no policy is in force (or SVC_FAIL_CLOSED=1)')
    .addHelpText('after', example)
    .action(async (options: ServeOptions) => {
      const { runServe } = await import('@svc/engine/serve')
      process.exitCode = await runServe(options, process.env, process.stdout, process.stderr)
    })
}
