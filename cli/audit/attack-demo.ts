// `svc attack-demo`: attacks on a log, and which auditor detects them.
import { Command } from 'commander'

export function attackDemoCommand(svc: string): Command {
  return new Command('attack-demo')
    .description('tamper with a log in more than thirty ways, and show which auditor detects it')
    .addHelpText(
      'after',
      `\nExample:\n  ${svc} attack-demo\n\nExit codes: 0 every result is as documented, 1 a result differs, 2 usage`,
    )
    .action(async () => {
      const { runDemo } = await import('@svc/proof/attacks')
      process.exitCode = await runDemo(process.stdout)
    })
}
