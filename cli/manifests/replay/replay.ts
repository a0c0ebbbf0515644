// `svc replay`: what policies would have done in recorded tasks.
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Terminal } from '../../terminal.js'
import type { PlatformReplay, ReplayCommandOptions } from './run.js'

const help = (svc: string) => `
Examples:
  ${svc} import recorder runs.jsonl --out steps.jsonl
  ${svc} replay steps.jsonl --manifest policies/
  ${svc} replay data/traces.jsonl --manifest new/refunds.yaml --against old/refunds.yaml --fail-on flipped
  ${svc} replay traces/ --manifest baseline --manifest policies/refunds.yaml --json
  ${svc} replay --platform --from 2026-01-01 --to 2026-01-31 --manifest policies/refunds.yaml

A trace has one step per line, as the local engine and \`import --out\` write it. Each task is evaluated step by step on the
history that was recorded, with the policies for the agent in meta.agent of its task.start; all manifests count as one set.

A step that a policy would have blocked has happened all the same, and the steps after it are evaluated on the path that
was recorded. A step that was recorded as blocked (output.status) is evaluated, and counts for nothing afterwards. Lines of
evaluations and incidents are no steps. A task id that continues after its end is one task with one history. Files are
read in the order given, as one trace.

With --platform, the platform of your login replays the tasks that it recorded: those whose first step it received before the
end of the period, and whose last step at or after its start. The manifests take the place of those of the same names that are
in effect, and the other policies in effect stay; the comparison is with the policies in effect, or with those and --against in
place. A day is a day in UTC, as --to its end. One replay takes at most the latest 10,000 tasks of 200 agents and 30,000 steps;
the summary counts the tasks beyond, and --fail-on fails for them.

Exit codes: 0 replayed, 1 a manifest, a line or a platform cannot be read or --fail-on matched, 2 usage`

export function replayCommand(terminal: Terminal, onPlatform: PlatformReplay): Command {
  const { svc } = terminal
  return new Command('replay')
    .description('replay recorded tasks under policies: what would be blocked, and what a change of policies changes')
    .argument('[traces...]', 'files or folders of recorded steps; - is standard input')
    .option(
      '--manifest <path>',
      'manifest, or folder of manifests; `baseline` is the bundled one; repeatable (default: baseline)',
      listed,
    )
    .option('--against <path>', 'manifest or folder to compare with; `baseline` is the bundled one; repeatable', listed)
    .option('--platform', 'replay the tasks that the platform of your login recorded, instead of traces')
    .option('--from <time>', 'start of the period, such as 2026-01-01 (default: 30 days before its end)')
    .option('--to <time>', 'end of the period; a day counts whole (default: now)')
    .option(
      '--agent <file>',
      'file with the fields of the agent of every task, YAML or JSON; with --platform, key or id of one agent',
    )
    .option('--limit <number>', 'steps to list; of a platform at most 100', numberOf, 20)
    .addOption(new Option('--fail-on <what>', 'exit with 1 if there are such tasks').choices(['blocked', 'flipped']))
    .addOption(new Option('--json', 'print JSON').conflicts('markdown'))
    .option('--markdown', 'print Markdown')
    .addHelpText('after', help(svc))
    .action(async (traces: string[], options: ReplayCommandOptions, command: Command) => {
      const mistake = mistakeIn(traces, options)
      if (mistake !== null) command.error(`error: ${mistake}`)
      const { runReplay } = await import('./run.js')
      terminal.exit(await runReplay(traces, options, terminal, onPlatform))
    })
}

/** The fault of the options together; null without one. */
function mistakeIn(traces: readonly string[], options: ReplayCommandOptions): string | null {
  const { platform, from, to, failOn, against } = options
  if (platform && traces.length > 0) return 'give either traces or --platform'
  if (platform) return null
  if (traces.length === 0) return "missing required argument 'traces', or --platform for recorded tasks of a platform"
  if (from !== undefined || to !== undefined) return '--from and --to are for --platform: traces are replayed whole'
  if (failOn === 'flipped' && against === undefined)
    return '--fail-on flipped needs --against, the manifests to compare with'
  return null
}

function listed(path: string, before: readonly string[] = []): string[] {
  return [...before, path]
}

function numberOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a number from 0 to 999999')
}
