// `svc validate`: checks manifests, and says what to write instead.
import { Command, Option } from 'commander'
import { namingCommands } from '../../called-as.js'
import type { Terminal } from '../../terminal.js'
import { coloured } from '../colour.js'
import type { ValidateOptions } from './validate-run.js'

const formats: readonly ValidateOptions['format'][] = ['text', 'json', 'github', 'sarif']

const example = (svc: string) => `
Examples:
  ${svc} validate policies/
  ${svc} validate refunds.yaml --strict
  ${svc} validate policies/ --json > findings.json
  ${svc} validate policies/ --format sarif > findings.sarif

Of a folder, all .yaml and .yml files with \`policies\` at the top level are manifests; folders that begin with a dot are left out.
Each message ends with the id of the finding: \`${svc} findings ID\` says why it matters and what to do.
\`--format github\` prints workflow commands, which GitHub Actions shows beside the lines, at most 9 of each kind and how many more.

Exit codes: 0 valid, 1 errors (with --strict also warnings), 2 usage`

export function validateCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('validate')
    .description('check manifests: YAML, rules, parameters, names, waivers and the form of tests')
    .argument('<path...>', 'manifests, or folders of manifests')
    .option('--strict', 'fail on warnings too')
    .addOption(new Option('--format <format>', 'format of the findings').choices(formats).default('text'))
    .option('--json', 'the same as --format json')
    .addHelpText('after', example(svc))
    .action(async (paths: string[], options: ValidateOptions) => {
      const { runValidate } = await import('./validate-run.js')
      const isText = options.json !== true && options.format === 'text'
      const out = isText ? namingCommands(svc, terminal.stdout) : terminal.stdout
      terminal.exit(await runValidate(paths, options, out, (text) => coloured(terminal, text)))
    })
}
