// `svc verify`: verifies a bundle offline with the keys of a trust policy.

import type { VerifyOptions } from '@svc/proof/verify'
import { Command } from 'commander'

const example = (svc: string) => `
Example:
  ${svc} verify march.zip --trust trust.policy

You write the trust policy; it never comes with a bundle:
  log log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c
  witness ours witness.example+3176bd45+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU
  quorum ours

Keep the checkpoint.note of each bundle: --since proves that the log has only grown since then.

Exit codes: 0 the bundle is valid, 1 it is not, 2 usage`

export function verifyCommand(svc: string): Command {
  return new Command('verify')
    .description('verify a proof bundle offline: nothing altered, nothing missing, signed by keys that you trust')
    .argument('<bundle>', 'the zip of a bundle')
    .requiredOption('--trust <file>', 'the trust policy: the keys of the log and of its witnesses')
    .option('--since <file>', 'a checkpoint of this log that you kept')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (path: string, options: VerifyOptions) => {
      const { runVerify } = await import('@svc/proof/verify')
      process.exitCode = await runVerify(path, options, process.stdout, process.stderr)
    })
}
