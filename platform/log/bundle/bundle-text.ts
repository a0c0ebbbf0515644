// What a bundle tells whoever opens it without having heard of it.
import { bundleFiles as files, keyLines } from '@svc/proof'
import type { LogKey } from '@svc/schemas'

/** VERIFY.md of a bundle of the log of that origin, whose keys are these. */
export function howToVerify(origin: string, keys: readonly LogKey[]): string {
  return `# How to check this bundle

It holds what the log \`${origin}\` received in one period, and everything it takes to check, offline and by nobody's word,
that no entry was altered, none is missing and none was added later.

1. Write down whose signatures you take, in a file \`trust.policy\`. These are the keys that sign or have signed this log, as the
   platform itself states them:

${keyLines(keys)
  .map((line) => `       ${line}`)
  .join('\n')}

   A forged bundle would state forged keys. Compare each fingerprint with one that you have by another way than from this platform:
   by phone from the person who runs it, from a page or a contract of theirs. \`svc checkpoint\` prints it for them. A witness is
   named by two more lines, with the key that the witness itself prints:

       witness ours NAME+ID+KEY
       quorum ours

2. Run \`svc verify BUNDLE --trust trust.policy\`, or the same as one file that needs nothing but Node.js 20:
   \`node svc-verify.mjs BUNDLE --trust trust.policy\`. It exits with 0 when everything holds, and else says what does not.
3. Keep \`${files.note}\`. With your next bundle, \`--since checkpoint.note\` shows that the log has only grown since; ask for that
   bundle with \`since=SIZE\`.

## What is in it

| file | what it is |
|---|---|
| ${files.manifest}, ${files.signature} | period, places in the log and the SHA-256 of every file; signed by the log (C2SP signed note) |
| ${files.note} | the signed checkpoint everything here leads to (C2SP tlog-checkpoint), with the signatures of its witnesses |
| ${files.checkpoints} | earlier checkpoints that records name, and how the log grew out of them |
| ${files.records} | the hashed bytes of each entry, one a line, in the order of the log; a neighbour on either side of the period |
| ${files.payloads} | salts and values of each entry of the period, one a line; \`null\` where they were erased |
| ${files.policy_sets} | the policies that steps were judged by; their SHA-256 stands in the records |
| ${files.authority} | entries outside the period that say why something in it is gone |
| ${files.leaves} | the hash of each record: SHA-256(0x00 ‖ line), 32 bytes each |
| ${files.nodes} | hashes of the full subtrees before and after, 32 bytes each |

## By hand

- A line of ${files.records} hashes to its leaf; leaves and nodes make the root of the checkpoint (RFC 9162 §2.1).
- A value of ${files.payloads} is what the record commits to: HMAC-SHA256 with its salt as the key, over "svc.payload/1", NUL, the
  name of the field, NUL, and the value as RFC 8785 has it.
- \`prev_hash\` is the hash of the entry before it in the same task. \`received_at\` never decreases, so that a neighbour from
  outside the period shows that nothing of the period is missing.
`
}
