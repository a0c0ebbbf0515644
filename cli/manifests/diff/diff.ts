// `svc diff`: what a change of manifests makes stricter or looser, and for which agents.
import { Command, Option } from 'commander'
import { namingCommands } from '../../called-as.js'
import type { Terminal } from '../../terminal.js'
import type { DiffOptions } from './run.js'

const example = (svc: string) => `
Examples:
  ${svc} diff old/refunds.yaml policies/refunds.yaml
  ${svc} diff HEAD:policies policies --inventory agents.yaml
  ${svc} diff main:policies HEAD:policies --fail-on looser --markdown

OLD and NEW are manifests, folders of manifests, or REF:PATH in the current Git repository. Manifests of folders are
compared by their paths. An inventory is a list of agents with agent_key, and optionally name, risk_classification and
manifests (the paths of the manifests that the agent has; without it, all of them).

  stricter  each step that violated the policy still does
  looser    no step violates the policy that did not before
  changed   neither is certain: read the values

--fail-on looser also fails for policies that are removed, waivers that are added and agents that are left without a
policy; --fail-on changed fails for changes without a direction too.

Exit codes: 0 compared, 1 a manifest cannot be read or --fail-on found a change, 2 usage`

export function diffCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('diff')
    .description('compare manifests: which policies become stricter or looser, and for which agents')
    .argument('<old>', 'manifest, folder, or REF:PATH in Git')
    .argument('<new>', 'manifest, folder, or REF:PATH in Git')
    .option('--inventory <file>', 'file with the agents, YAML or JSON')
    .addOption(new Option('--fail-on <change>', 'exit with 1 for such a change').choices(['looser', 'changed']))
    .option('--json', 'print JSON')
    .addOption(new Option('--markdown', 'print Markdown, for a pull request').conflicts('json'))
    .addHelpText('after', example(svc))
    .action(async (old: string, next: string, options: DiffOptions) => {
      const { runDiff } = await import('./run.js')
      terminal.exit(await runDiff(old, next, options, terminal.stdout, namingCommands(svc, terminal.stderr)))
    })
}
