// VERIFY.md: how to verify a bundle, for a reader who does not know svc.
import { bundleFiles as files, keyLines } from '@svc/proof'
import type { LogKey } from '@svc/schemas'

/** VERIFY.md of a bundle of the log of an origin, with its keys. */
export function howToVerify(origin: string, keys: readonly LogKey[]): string {
  return `# How to verify this bundle

The bundle holds the entries that the log \`${origin}\` received in one period, with everything that is needed to verify
offline, without trust in the platform, that no entry was altered, is missing or was added later.

1. Write the keys that you trust into a file \`trust.policy\`. The platform states these keys, which sign or have signed this log:

${keyLines(keys)
  .map((line) => `       ${line}`)
  .join('\n')}

   A forged bundle would state forged keys. Compare each fingerprint with one that you received by another way, such as by
   phone from the operator of the platform, or from the operator's website or a contract. \`svc checkpoint\` prints it for the
   operator. Two more lines name a witness, with the key that the witness itself prints:

       witness ours NAME+ID+KEY
       quorum ours

2. Run \`svc verify BUNDLE --trust trust.policy\`, or the single file that needs only Node.js 20:
   \`node svc-verify.mjs BUNDLE --trust trust.policy\`. It exits with 0 when the bundle is valid, and else prints its findings.
3. For a report, add \`--report report.pdf\`: the log holds the SHA-256 of each report that was issued. \`svc verify --rejudge\` also
   evaluates each step again and compares the verdicts with the recorded ones. From the bundle of a report, \`svc report --bundle BUNDLE
   --trust trust.policy --out again.pdf\` makes the report again, offline.
4. Keep \`${files.note}\`. With your next bundle, \`--since checkpoint.note\` verifies that the log has only grown since; request
   that bundle with \`since=SIZE\`.

## Files

| file | content |
|---|---|
| ${files.manifest}, ${files.signature} | the period, the log indexes and the SHA-256 of every file; signed by the log (C2SP signed note) |
| ${files.note} | the signed checkpoint of the tree (C2SP tlog-checkpoint), with the signatures of its witnesses |
| ${files.checkpoints} | earlier checkpoints that records name, with consistency proofs |
| ${files.records} | the hashed bytes of each entry, one per line, in the order of the log; with one entry before and after the period |
| ${files.payloads} | salts and values of each entry of the period, one per line; \`null\` where they were erased |
| ${files.policy_sets} | the policies that steps were evaluated with; the records hold their SHA-256 |
| ${files.authority} | entries outside the period that it needs, each with its proof: authorizations of removals, the agents as they were registered before it, the leaf of its report, what the report reads |
| ${files.report} | what a report reads besides the entries of its period: log indexes of entries, and statements of the platform that no entry proves |
| ${files.leaves} | the hash of each record: SHA-256(0x00 ‖ line), 32 bytes each |
| ${files.nodes} | hashes of the full subtrees before and after, 32 bytes each |

## By hand

- Each line of ${files.records} hashes to its leaf; leaves and nodes hash to the root of the checkpoint (RFC 9162 §2.1).
- The record commits to each value of ${files.payloads}: HMAC-SHA256, with the salt as the key, of "svc.payload/1", NUL, the
  name of the field, NUL, and the value in RFC 8785 form.
- \`prev_hash\` is the hash of the previous entry of the same task. \`received_at\` never decreases, so an entry from outside the
  period on either side shows that no entry of the period is missing.
`
}
