// `svc replay`: what policies would have done in recorded tasks.
import { Command, InvalidArgumentError, Option } from 'commander'
import { namingCommands } from '../called-as.js'
import type { ReplayCommandOptions } from './replay-run.js'

const help = (svc: string) => `
Examples:
  ${svc} import recorder runs.jsonl --out steps.jsonl
  ${svc} replay steps.jsonl --manifest policies/
  ${svc} replay data/traces.jsonl --manifest new/refunds.yaml --against old/refunds.yaml --fail-on flipped
  ${svc} replay traces/ --manifest baseline --manifest policies/refunds.yaml --json

A trace has one step per line, as the local engine and \`import --out\` write it. Each task is evaluated step by step on the
history that was recorded, with the policies for the agent in meta.agent of its task.start; all manifests count as one set.

A step that a policy would have blocked has happened all the same, and the steps after it are evaluated on the path that
was recorded. A step that was recorded as blocked (output.status) is evaluated, and counts for nothing afterwards. Lines of
evaluations and incidents are no steps. A task id that continues after its end is one task with one history. Files are
read in the order given, as one trace.

Exit codes: 0 replayed, 1 a manifest or a line cannot be read or --fail-on matched, 2 usage`

export function replayCommand(svc: string): Command {
  return new Command('replay')
    .description('replay recorded tasks under policies: what would be blocked, and what a change of policies changes')
    .argument('<traces...>', 'files or folders of recorded steps; - is standard input')
    .option(
      '--manifest <path>',
      'manifest, or folder of manifests; `baseline` is the bundled one; repeatable (default: baseline)',
      listed,
    )
    .option('--against <path>', 'manifest or folder to compare with; `baseline` is the bundled one; repeatable', listed)
    .option('--agent <file>', 'file with the fields of the agent of every task, YAML or JSON')
    .option('--limit <number>', 'steps to list', numberOf, 20)
    .addOption(new Option('--fail-on <what>', 'exit with 1 if there are such tasks').choices(['blocked', 'flipped']))
    .addOption(new Option('--json', 'print JSON').conflicts('markdown'))
    .option('--markdown', 'print Markdown')
    .addHelpText('after', help(svc))
    .action(async (traces: string[], options: ReplayCommandOptions, command: Command) => {
      if (options.failOn === 'flipped' && options.against === undefined)
        command.error('error: --fail-on flipped needs --against, the manifests to compare with')
      const { runReplay } = await import('./replay-run.js')
      const streams = { out: process.stdout, err: namingCommands(svc, process.stderr) }
      process.exitCode = await runReplay(traces, options, { svc, ...streams })
    })
}

function listed(path: string, before: readonly string[] = []): string[] {
  return [...before, path]
}

function numberOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a number from 0 to 999999')
}
