// `svc attack-demo`: attacks on a log, and which auditor detects them.
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'

export function attackDemoCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('attack-demo')
    .description('tamper with a log in more than thirty ways, and show which auditor detects it')
    .addHelpText(
      'after',
      `\nExample:\n  ${svc} attack-demo\n\nExit codes: 0 every result is as documented, 1 a result differs, 2 usage`,
    )
    .action(async () => {
      const { runDemo } = await import('@svc/proof/attacks')
      terminal.exit(await runDemo(terminal.stdout))
    })
}
