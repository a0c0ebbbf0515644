// `svc docs`: tables of manifests for readers who do not know YAML.
import { Command, Option } from 'commander'
import type { Terminal } from '../../terminal.js'
import type { DocsOptions } from './run.js'

const example = (svc: string) => `
Examples:
  ${svc} docs policies/
  ${svc} docs policies/ --out policies.md
  ${svc} docs policies/ --out docs --check

Each manifest becomes a table of its policies: what a violation does, what each policy checks, which tests show it, waivers
and controls. --out writes one file if the path ends in .md, otherwise a folder with a file for each manifest. A file that
this command did not write is never replaced.

Exit codes: 0 written or current, 1 a manifest has errors, a test failed, or a file is not current, 2 usage`

export function docsCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('docs')
    .description('write tables of manifests in Markdown, for readers who do not know YAML')
    .argument('<path...>', 'manifests, or folders of manifests')
    .option('--out <path>', 'file or folder to write to (default: standard output)')
    .option('--check', 'write nothing, and fail when a file of --out is not current')
    .addOption(new Option('--json', 'print JSON').conflicts(['out', 'check']))
    .addHelpText('after', example(svc))
    .action(async (paths: string[], options: DocsOptions, command: Command) => {
      const { out, check } = options
      if (check === true && out === undefined)
        command.error('error: --check needs --out: name the file or the folder to check')
      const { runDocs } = await import('./run.js')
      terminal.exit(await runDocs(paths, options, terminal))
    })
}
