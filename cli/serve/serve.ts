// `svc serve`: the local engine, next to the agent.
import type { ServeOptions } from '@svc/engine/serve'
import { Command } from 'commander'
import { namingCommands } from '../called-as.js'
import { portOf } from '../port.js'
import type { Terminal } from '../terminal.js'

type CommandOptions = Omit<ServeOptions, 'policyFile'> & Partial<Pick<ServeOptions, 'policyFile'>>

const example = (svc: string) => `
Examples:
  ${svc} serve --baseline
  ${svc} serve --policy-file policies/refunds.yaml --policy-file policies/shared

Then, before each step:
  curl -s http://127.0.0.1:8765/evaluate -H 'Content-Type: application/json' -d '{
    "intended": {"step_type": "step.exec"},
    "context": {"agent_id": "a", "task_id": "t", "environment": "development", "risk_classification": "limited"}}'

Exit codes: 0 stopped, 1 could not start, no policy source, or a policy was dropped with --strict, 2 usage`

export function serveCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('serve')
    .description('run the local engine, which evaluates steps before they happen')
    .option('--baseline', 'use the bundled baseline; needs no credentials and no network')
    .option('--policy-file <path>', 'a manifest or a folder of manifests; repeatable', (path, list: string[] = []) => [
      ...list,
      path,
    ])
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', portOf, 8765)
    .option(
      '--agent-key <key>',
      'the agent whose waivers apply; for a platform, whose policies apply (or SVC_AGENT_KEY)',
    )
    .option(
      '--log-location <location>',
      'where to write traces: api (the platform), file:PATH, stdout, otlp:URL or none (or SVC_LOG_LOCATION; default: auto, which is api for policies of a platform, else a file under SVC_DATA_DIR)',
    )
    .option(
      '--log-format <format>',
      'behavior, or entry: bodies of POST /api/v1/logs (or SVC_LOG_FORMAT; default: behavior)',
    )
    .option(
      '--incident-location <location>',
      'where to deliver incidents: trace, stdout, file:PATH, api or an address (or SVC_INCIDENT_LOCATION; default: trace)',
    )
    .option('--incident-format <format>', 'incident or behavior (or SVC_INCIDENT_FORMAT; default: incident)')
    .option('--token <secret>', 'bearer token that callers must send; required beyond loopback (or SVC_LOCAL_TOKEN)')
    .option('--fail-closed', 'block every step while no policy is in effect (or SVC_FAIL_CLOSED=1)')
    .option('--strict', 'end with exit code 1 when a policy of the source is dropped at the start')
    .addHelpText('after', example(svc))
    .action(async ({ policyFile = [], ...options }: CommandOptions) => {
      const { runServe } = await import('@svc/engine/serve')
      const err = namingCommands(svc, terminal.stderr)
      terminal.exit(await runServe({ ...options, policyFile }, terminal.env, terminal.stdout, err))
    })
}
