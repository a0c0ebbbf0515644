// `svc verify`: whether a bundle holds, offline and by nobody's word but the trust policy's.

import type { VerifyOptions } from '@svc/proof/verify'
import { Command } from 'commander'

const example = `
Example:
  svc verify march.zip --trust trust.policy

A trust policy is a text of lines that you write, and that never comes with a bundle:
  log log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c
  witness ours witness.example+3176bd45+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU
  quorum ours

Keep the checkpoint.note of each bundle: --since shows that the log has only grown since.

Exit codes: 0 everything holds, 1 something does not, 2 usage`

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check a proof bundle offline: nothing altered, nothing missing, signed by whom you trust')
    .argument('<bundle>', 'a zip of GET /api/v1/log/bundle')
    .requiredOption('--trust <file>', 'the trust policy: keys of the log and of its witnesses')
    .option('--since <file>', 'a checkpoint of this log that you kept')
    .option('--json', 'the verdict for programs')
    .addHelpText('after', example)
    .action(async (path: string, options: VerifyOptions) => {
      const { runVerify } = await import('@svc/proof/verify')
      process.exitCode = await runVerify(path, options, process.stdout, process.stderr)
    })
}
