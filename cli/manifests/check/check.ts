// `svc check`: policies that are valid and probably do not do what their author wants.
import { Command } from 'commander'
import { namingCommands } from '../../called-as.js'
import type { Terminal } from '../../terminal.js'
import type { CheckOptions } from './run.js'

const example = (svc: string) => `
Examples:
  ${svc} check policies/
  ${svc} check company.yaml team.yaml --together --strict
  ${svc} check policies/refunds.yaml --paths

A path is a manifest or a folder of manifests. Each manifest is analysed alone; with --together all are one set, as on an
agent that has them all. Found are policies that never apply, are never or always violated, contradict or repeat each other, and
actions that no order of steps leads to. What the analysis cannot prove it does not report.

Exit codes: 0 no findings that fail, 1 an invalid manifest, or with --strict a warning, 2 usage`

export function checkCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('check')
    .description('find policies that never apply, contradict each other, or block every way to an action')
    .argument('<path...>', 'manifests, or folders of manifests')
    .option('--together', 'analyse all manifests as one set, as on one agent')
    .option('--paths', 'print a shortest allowed path of steps to each action that critical policies target')
    .option('--strict', 'warnings fail')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (paths: readonly string[], options: CheckOptions) => {
      const { runCheck } = await import('./run.js')
      terminal.exit(await runCheck(paths, options, terminal.stdout, namingCommands(svc, terminal.stderr)))
    })
}
