// The command `svc-platform`, for the program that adds a room to the platform.

import { versionLines } from '@svc/schemas'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { adminOperations } from './admin/operations.js'
import type { ConfigureRoom } from './room.js'

/** Loads the room that a start adds to the platform. */
type LoadRoom = () => Promise<ConfigureRoom>

/** Runs the command that the arguments of the process name; sets its exit code. */
export async function runCommand(configure: LoadRoom): Promise<void> {
  const program = new Command('svc-platform')
    .description('The agent governance platform: registration, tamper-evident log, incidents.')
    .version(versionLines(['svc', 'API', 'engine']))
    .showHelpAfterError('(run with --help for an example)')
    .exitOverride()
  addStart(program, configure)
  addNewEpoch(program)
  addRotateSecrets(program)
  addRotateKey(program)
  addAdmin(program)
  endOnClosedPipe(program)
  try {
    await program.parseAsync()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version exit with 0; every other CommanderError is an invalid call.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  }
}

function addStart(program: Command, configure: LoadRoom): void {
  program
    .command('start')
    .description('start the platform; configured by SVC_* variables (docs/configuration.md lists them)')
    .addHelpText('after', '\nExample:\n  svc-platform start\n\nExit codes: 0 stopped, 1 could not start')
    .action(async () => {
      const { start } = await import('./start.js')
      process.exitCode = await start(process.env, process.stdout, process.stderr, await configure())
    })
}

function addNewEpoch(program: Command): void {
  program
    .command('new-epoch')
    .description('continue a log that was restored from a backup, under a new origin; the log records the reason')
    .requiredOption('--reason <text>', 'the reason, for the audit trail', reasonOf)
    .option('--org <id>', 'one organization only')
    .option('--accept-changed-entries', 'continue although signed entries have changed; the log records it')
    .addHelpText(
      'after',
      `
Example:
  svc-platform new-epoch --reason 'restored the backup of 1 March after the disk failed'

After a restore the platform signs no checkpoints of a log that is shorter than the signed one or differs from it. This
command reads and hashes every entry again and compares the log with the signed checkpoints. It fails when signed
entries have changed: restore another backup, or record the loss with --accept-changed-entries, which every verifier of
the log reports. An embedded database requires that the platform is stopped first.

Exit codes: 0 done, 1 not possible, 2 usage`,
    )
    .action(async (options: { reason: string; org?: string; acceptChangedEntries?: boolean }) => {
      const { newEpoch } = await import('./admin/new-epoch.js')
      process.exitCode = await newEpoch(options, process.env, process.stdout, process.stderr)
    })
}

function addRotateSecrets(program: Command): void {
  program
    .command('rotate-secrets')
    .description('seal the secrets in the database with a new encryption key')
    .addHelpText(
      'after',
      `
Example:
  SVC_ENCRYPTION_KEY="NEW OLD" svc-platform rotate-secrets

SVC_ENCRYPTION_KEY names the new key first, then the old one, which can be removed afterwards. Restart every process of
the platform with both keys before this command. An embedded database requires that the platform is stopped first.

Exit codes: 0 done, 1 not possible, 2 usage`,
    )
    .action(async () => {
      const { rotateSecrets } = await import('./admin/rotate-secrets.js')
      process.exitCode = await rotateSecrets(process.env, process.stdout, process.stderr)
    })
}

function addRotateKey(program: Command): void {
  program
    .command('rotate-key')
    .description('sign checkpoints with a new key; the old key signs beside it for some days')
    .requiredOption('--reason <text>', 'the reason, for the audit trail', reasonOf)
    .option('--days <count>', 'days for which the old key signs as well', daysOf, 30)
    .addHelpText(
      'after',
      `
Example:
  svc-platform rotate-key --reason 'yearly' --days 30

Prints the lines for trust policies. A leaf of each log, signed with the old key, names the new key as its successor. A
running platform signs with both keys from its next checkpoint on. An embedded database requires that the platform is
stopped first. Use --days 0 when the old key was stolen.

Exit codes: 0 done, 1 not possible, 2 usage`,
    )
    .action(async (options: { reason: string; days: number }) => {
      const { rotateKey } = await import('./admin/rotate-key.js')
      process.exitCode = await rotateKey(options, process.env, process.stdout, process.stderr)
    })
}

function addAdmin(program: Command): void {
  const admin = program
    .command('admin')
    .description('manage accounts and the key file as the operator of the installation; works while the platform runs')

  for (const operation of adminOperations) {
    const { name, argument } = operation
    admin
      .command(argument === null ? name : `${name} <${argument}>`)
      .description(operation.summary)
      .addHelpText(
        'after',
        `\nExample:\n  svc-platform admin ${argument === null ? name : `${name} mia@example.org`}\n\nExit codes: 0 done, 1 not possible, 2 usage`,
      )
      .action(async (email: unknown) => {
        const { runAdmin } = await import('./admin/command.js')
        const given = typeof email === 'string' ? email : ''
        process.exitCode = await runAdmin(operation, given, process.env, process.stdout, process.stderr)
      })
  }
}

/**
 * A closed pipe, such as after `| head`, is not an error: a command exits with the status that a shell reports for SIGPIPE,
 * and a started platform continues.
 */
function endOnClosedPipe(program: Command): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (program.args[0] !== 'start') process.exit(code === 'EPIPE' ? 141 : 1)
    })
}

function reasonOf(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('Give a reason that is not empty.')
}

function daysOf(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a number of days from 0 to 999.')
}
