// The command `svc`. Each command's work is loaded when it is asked for, so that none pays for the others.

import { versionLines } from '@svc/schemas'
import { Command, CommanderError } from 'commander'
import { accountCommand } from './account/account.js'
import { keyCommand } from './account/key.js'
import { loginCommand, logoutCommand, whoamiCommand } from './account/login.js'
import { workspaceCommand } from './account/workspace.js'
import { attackDemoCommand } from './audit/attack-demo.js'
import { bundleCommand, checkpointCommand } from './audit/bundle.js'
import { verifyCommand } from './audit/verify.js'
import { witnessCommand } from './audit/witness.js'
import { explainCommand } from './explain/explain.js'
import { importCommand } from './import/import.js'
import { rulesCommand } from './rules/rules.js'
import { stepsCommand } from './rules/steps.js'
import { serveCommand } from './serve/serve.js'

const program = new Command('svc')
  .description(
    'Policy as code for AI agents: judge steps locally, explain decisions, import recorded runs, read the rules, verify and witness logs.',
  )
  .version(versionLines(['svc', 'engine', 'proof']))
  .showHelpAfterError('(run with --help for an example)')
  .exitOverride()

const commands = [
  ...[serveCommand(), explainCommand(), importCommand(), rulesCommand(), stepsCommand()],
  ...[verifyCommand(), witnessCommand(), attackDemoCommand()],
  ...[loginCommand(), logoutCommand(), whoamiCommand(), accountCommand(), workspaceCommand(), keyCommand()],
  ...[checkpointCommand(), bundleCommand()],
]
for (const command of commands) program.addCommand(command.exitOverride())

/** Commands that go on when what they print is no longer read. */
const servers = ['serve', 'witness']

// A reader that ends, such as `head`, is not an error of the command: it ends with what a shell reports for SIGPIPE, not with
// 0, because what was not printed may have been the verdict.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (!servers.includes(program.args[0] ?? '')) process.exit(code === 'EPIPE' ? 141 : 1)
  })

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Help and version are answers; everything else is a call that cannot be understood.
  process.exitCode = error.exitCode === 0 ? 0 : 2
}
