// `svc verify`: verifies a bundle offline with the keys of a trust policy.

import type { Add, VerifyOptions } from '@svc/proof/verify'
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'

const example = (svc: string) => `
Examples:
  ${svc} verify march.zip --trust trust.policy
  ${svc} verify march.zip --trust trust.policy --report march.pdf
  ${svc} verify march.zip --trust trust.policy --rejudge

You write the trust policy; it never comes with a bundle:
  log log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c
  witness ours witness.example+3176bd45+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU
  quorum ours

Keep the checkpoint.note of each bundle: --since proves that the log has only grown since then.

Exit codes: 0 the bundle is valid, and each verdict that was evaluated again is as recorded; 1 not so; 2 usage`

export function verifyCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('verify')
    .description('verify a proof bundle offline: nothing altered, nothing missing, signed by keys that you trust')
    .argument('<bundle>', 'the zip of a bundle')
    .requiredOption('--trust <file>', 'the trust policy: the keys of the log and of its witnesses')
    .option('--since <file>', 'a checkpoint of this log that you kept')
    .option('--report <file>', 'the file of a report: the log must hold its SHA-256')
    .option('--rejudge', 'evaluate each step again and compare the verdicts with the recorded ones')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (path: string, options: VerifyOptions & { readonly rejudge?: boolean }) => {
      const { runVerify } = await import('@svc/proof/verify')
      const rejudge = options.rejudge ? (await import('./rejudge.js')).rejudgeBundle : null
      const add: Add | null = rejudge && ((...bundle) => rejudge(...bundle, terminal.stderr))
      terminal.exit(await runVerify(path, options, terminal.stdout, terminal.stderr, add))
    })
}
