// `svc test`: runs the tests in manifests.
import { Command } from 'commander'
import { namingCommands } from '../../called-as.js'
import type { Terminal } from '../../terminal.js'
import { coloured } from '../colour.js'
import type { TestOptions } from './test-run.js'

const example = (svc: string) => `
Examples:
  ${svc} test policies/
  ${svc} test refunds.yaml --coverage
  ${svc} test policies/ --filter stale

Tests are in \`tests\` of a manifest, or in a file beside it: those of refunds.yaml in refunds.test.yaml. A test has a history of
steps, a step to evaluate and what is expected; the violated policies must be exactly those that \`violated\` lists. The clock
is that of the test: \`now\`, else the time of its last step. Coverage counts which policies, and which conditions of compound
rules, the tests violate and pass.

Exit codes: 0 all tests passed, 1 a test failed, there is no test, or a manifest has errors, 2 usage`

export function testCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('test')
    .description('run the tests of manifests: expected, got, and why')
    .argument('<path...>', 'manifests, files of tests, or folders')
    .option('--filter <text>', 'run the tests with this text in their name')
    .option('--coverage', 'list the policies and conditions that no test violates or passes')
    .option('--require-tests', 'fail on a manifest without tests')
    .option('--strict', 'fail on warnings too')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (paths: string[], options: TestOptions) => {
      const { runTestCommand } = await import('./test-run.js')
      const out = options.json === true ? terminal.stdout : namingCommands(svc, terminal.stdout)
      terminal.exit(await runTestCommand(paths, options, out, (text) => coloured(terminal, text)))
    })
}
