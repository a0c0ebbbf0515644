// The command `svc-platform`.
import { Command } from 'commander'
import { version } from './version.js'

const program = new Command('svc-platform')
  .description('The agent governance platform: registration, tamper-evident log, incidents.')
  .version(version)

program
  .command('start')
  .description('start the platform; configured by SVC_* variables (see the README)')
  .addHelpText('after', '\nExample:\n  svc-platform start\n\nExit codes: 0 stopped, 1 could not start')
  .action(async () => {
    const { start } = await import('./start.js')
    process.exitCode = await start(process.env, process.stdout, process.stderr)
  })

await program.parseAsync()
