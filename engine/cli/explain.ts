// `svc explain`: why a step was allowed, warned about or blocked.
import { Command, InvalidArgumentError } from 'commander'

export interface ExplainOptions {
  readonly trace: string
  readonly step: number
  readonly task?: string
  readonly run?: number
  readonly agent?: string
  readonly json?: true
}

const example = `
Examples:
  svc explain policies/refunds.yaml --trace data/traces.jsonl --task 4f1c --step 7
  svc explain policies/refunds.yaml --trace steps.jsonl --step 3 --agent agent.yaml --json

A trace holds a step a line, as the local engine writes it and svc import --out. The agent's fields come from --agent,
else from meta.agent of the task's task.start.

Exit codes: 0 explained, 1 the manifest or the trace cannot be used, 2 usage`

export function explainCommand(): Command {
  return new Command('explain')
    .description('say why: every policy of a manifest on one recorded step, with evidence and remedy')
    .argument('<manifest>', 'the manifest to judge by')
    .requiredOption('--trace <file>', 'recorded steps, a JSON object a line')
    .requiredOption('--step <number>', 'which step of the task', numberOf)
    .option('--task <id>', 'which task; needed when the trace holds several')
    .option('--run <number>', 'which run of a task id that was used again after its end; default: the last', numberOf)
    .option('--agent <file>', 'fields of the agent, as YAML or JSON')
    .option('--json', 'print JSON')
    .addHelpText('after', example)
    .action(async (manifest: string, options: ExplainOptions) => {
      const { runExplain } = await import('./explain-run.js')
      process.exitCode = await runExplain(manifest, options, process.stdout, process.stderr)
    })
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a number from 1')
}
