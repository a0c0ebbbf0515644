// `svc explain`: why a step was allowed, warned about or blocked.
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ExplainOptions } from './options.js'

const example = `
Examples:
  svc explain policies/refunds.yaml --trace data/traces.jsonl --task 4f1c --step 7
  svc explain policies/refunds.yaml --trace steps.jsonl --step 3 --agent agent.yaml --json
  svc explain policies/refunds.yaml --trace data/traces.jsonl --evaluation 0a6f2c1e-…

A trace holds a step a line, as the local engine writes it and svc import --out. The agent's fields come from --agent,
else from meta.agent of the task's task.start. An evaluation that was blocked is found by the evaluation_id of its
answer, and brings its agent along.

Exit codes: 0 explained, 1 the manifest or the trace cannot be used, 2 usage`

export function explainCommand(): Command {
  return new Command('explain')
    .description('say why: every policy of a manifest on one recorded step, with evidence and remedy')
    .argument('[manifest]', 'the manifest to judge by; default: the bundled baseline')
    .requiredOption('--trace <file>', 'recorded steps, a JSON object a line')
    .option('--step <number>', 'which step of the task', numberOf)
    .addOption(new Option('--evaluation <id>', 'which blocked evaluation').conflicts(['step', 'task', 'run']))
    .option('--task <id>', 'which task; needed when the trace holds several')
    .option('--run <number>', 'which run of a task id that was used again after its end; default: the last', numberOf)
    .option('--agent <file>', 'fields of the agent, as YAML or JSON')
    .option('--json', 'print JSON')
    .addHelpText('after', example)
    .action(async (manifest: string | undefined, options: ExplainOptions, command: Command) => {
      if (options.step === undefined && options.evaluation === undefined)
        command.error('error: give --step <number> or --evaluation <id>')
      const { runExplain } = await import('./run.js')
      process.exitCode = await runExplain(manifest, options, process.stdout, process.stderr)
    })
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a number from 1')
}
