// The command `svc-platform`.

import { versionLines } from '@svc/schemas'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { adminOperations } from './admin/operations.js'

const program = new Command('svc-platform')
  .description('The agent governance platform: registration, tamper-evident log, incidents.')
  .version(versionLines(['API', 'dashboard', 'engine']))
  .showHelpAfterError('(run with --help for an example)')
  .exitOverride()

program
  .command('start')
  .description('start the platform; configured by SVC_* variables (see the README)')
  .addHelpText('after', '\nExample:\n  svc-platform start\n\nExit codes: 0 stopped, 1 could not start')
  .action(async () => {
    const { start } = await import('./start.js')
    process.exitCode = await start(process.env, process.stdout, process.stderr)
  })

program
  .command('new-incarnation')
  .description('go on with a log that was restored from a backup: it gets another name, and says why')
  .requiredOption('--reason <text>', 'why, for the audit trail', reasonOf)
  .option('--org <id>', 'one organization only')
  .option('--accept-changed-entries', 'go on although entries that were signed for have changed; the log says so')
  .addHelpText(
    'after',
    `
Example:
  svc-platform new-incarnation --reason 'restored the backup of 1 March after the disk failed'

Until then a log that is shorter than what was signed for, or another, is not signed for any more. Every entry is read
and hashed again first, and compared with the checkpoints that were signed. When entries that were signed for have
changed, the command fails: restore another backup, or record the loss with --accept-changed-entries, which everybody
who verifies the log sees. Stop the platform first when it uses an embedded database.

Exit codes: 0 done, 1 not possible, 2 usage`,
  )
  .action(async (options: { reason: string; org?: string; acceptChangedEntries?: boolean }) => {
    const { newIncarnation } = await import('./admin/new-epoch.js')
    process.exitCode = await newIncarnation(options, process.env, process.stdout, process.stderr)
  })

program
  .command('rotate-secrets')
  .description('seal what is kept secret in the database with a new encryption key')
  .addHelpText(
    'after',
    `
Example:
  SVC_ENCRYPTION_KEY="NEW OLD" svc-platform rotate-secrets

The new key stands first in SVC_ENCRYPTION_KEY, the old one behind it; afterwards the old one may go. Start the platform
with both before that, so that all its processes know the new one; on an embedded database stop it first.

Exit codes: 0 done, 1 not possible, 2 usage`,
  )
  .action(async () => {
    const { rotateSecrets } = await import('./admin/rotate-secrets.js')
    process.exitCode = await rotateSecrets(process.env, process.stdout, process.stderr)
  })

program
  .command('rotate-key')
  .description('sign checkpoints with a new key; the old one signs along for a while')
  .requiredOption('--reason <text>', 'why, for the audit trail', reasonOf)
  .option('--days <count>', 'for how long the old key signs along', daysOf, 30)
  .addHelpText(
    'after',
    `
Example:
  svc-platform rotate-key --reason 'yearly' --days 30

Prints the lines for trust policies. A leaf of each log names the new key, so that whoever trusts the old one can see
that it is its successor. A running platform signs with both from its next checkpoint on; on an embedded database stop
it first. When the old key was stolen use --days 0.

Exit codes: 0 done, 1 not possible, 2 usage`,
  )
  .action(async (options: { reason: string; days: number }) => {
    const { rotateKey } = await import('./admin/rotate-key.js')
    process.exitCode = await rotateKey(options, process.env, process.stdout, process.stderr)
  })

const admin = program
  .command('admin')
  .description('accounts, for the operator of the installation; works while the platform runs')

for (const operation of adminOperations)
  admin
    .command(`${operation.name} <email>`)
    .description(operation.summary)
    .addHelpText(
      'after',
      `\nExample:\n  svc-platform admin ${operation.name} mia@example.org\n\nExit codes: 0 done, 1 not possible, 2 usage`,
    )
    .action(async (email: string) => {
      const { runAdmin } = await import('./admin/command.js')
      process.exitCode = await runAdmin(operation, email, process.env, process.stdout, process.stderr)
    })

// A reader that ends, such as `head`, is not an error of the command: it ends with what a shell reports for SIGPIPE; a
// platform that has started goes on.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (program.args[0] !== 'start') process.exit(code === 'EPIPE' ? 141 : 1)
  })

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Help and version are answers; everything else is a call that cannot be understood.
  process.exitCode = error.exitCode === 0 ? 0 : 2
}

function reasonOf(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('It must say something.')
}

function daysOf(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is no number of days from 0 to 999.')
}
