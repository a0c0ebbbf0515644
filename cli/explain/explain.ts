// `svc explain`: why a step was allowed, warned about, asked about or blocked.
import { Command, InvalidArgumentError, Option } from 'commander'
import { namingCommands } from '../called-as.js'
import type { Terminal } from '../terminal.js'
import type { ExplainOptions } from './run.js'

const example = (svc: string) => `
Examples:
  ${svc} explain policies/refunds.yaml --trace data/traces.jsonl --task 4f1c --step 7
  ${svc} explain policies/refunds.yaml --trace steps.jsonl --step 3 --agent agent.yaml --json
  ${svc} explain policies/refunds.yaml --trace data/traces.jsonl --evaluation 0a6f2c1e-…

A trace has one step per line, as the local engine and \`import --out\` write it. The fields of the agent come from
--agent, else from meta.agent of the task.start of the task. An evaluation that blocked or asked is found by the
evaluation_id of its answer, together with its agent. For an approval that is missing, the body to record is printed.

Exit codes: 0 explained, 1 a file cannot be used, 2 usage, or a part of the manifest is
invalid and was left out`

export function explainCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('explain')
    .description('explain a recorded step: the result of every policy of a manifest, with evidence and remedy')
    .argument('[manifest]', 'the manifest to evaluate (default: the bundled baseline)')
    .requiredOption('--trace <file>', 'recorded steps, one JSON object per line')
    .option('--step <number>', 'number of the step in its task', numberOf)
    .addOption(
      new Option('--evaluation <id>', 'id of an evaluation that blocked or asked, instead of --step').conflicts([
        'step',
        'task',
      ]),
    )
    .option('--task <id>', 'id of the task; required when the trace has several')
    .option('--agent <file>', 'file with the fields of the agent, YAML or JSON')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (manifest: string | undefined, options: ExplainOptions, command: Command) => {
      if (options.step === undefined && options.evaluation === undefined)
        command.error('error: give --step <number> or --evaluation <id>')
      const { runExplain } = await import('./run.js')
      terminal.exit(await runExplain(manifest, options, terminal.stdout, namingCommands(svc, terminal.stderr)))
    })
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a number from 1')
}
