// `svc attack-demo`: what the log is worth, shown rather than said.
import { Command } from 'commander'

export function attackDemoCommand(): Command {
  return new Command('attack-demo')
    .description('tamper with a log in more than thirty ways, and see which auditor notices')
    .addHelpText(
      'after',
      '\nExample:\n  svc attack-demo\n\nExit codes: 0 every attack came out as stated, 1 one did not, 2 usage',
    )
    .action(async () => {
      const { runDemo } = await import('@svc/proof/attacks')
      process.exitCode = await runDemo(process.stdout)
    })
}
