// The public exports of @svc/proof.
export {
  type BundledCheckpoint,
  type BundledReading,
  bundleFiles,
  listedFiles,
  manifestStatement,
  payloadLine,
} from './bundle/bundle.js'
export { type ZipEntry, zipLayout } from './bundle/zip.js'
export { canonical } from './json/canonical.js'
export { isMap } from './json/checks.js'
export { isDeeperThan, maxCompoundDepth, maxPolicyDepth, maxRequestDepth, maxStoredDepth } from './json/depth.js'
export { hexOf, sha256Hex } from './json/hex.js'
export type { JsonProblem, JsonReading } from './json/json-reader.js'
export { parseJson } from './json/parse-json.js'
export { requestJson } from './json/request-json.js'
export {
  lineAndColumn,
  parseSentBatch,
  parseSentPolicy,
  parseStoredJson,
  parseStrictJson,
} from './json/strict-json.js'
export {
  type AddCheckpoint,
  evaluateAddCheckpoint,
  formatAddCheckpoint,
  parseAddCheckpoint,
  type Seen,
  type Verdict,
} from './notes/add-checkpoint.js'
export { keyLines, trustPolicyLines } from './notes/key-lines.js'
export {
  type Checkpoint,
  fingerprintOf,
  formatCheckpoint,
  formatNote,
  formatVerifier,
  type KeyKind,
  type Note,
  parseCheckpoint,
  parseNote,
  parseVerifier,
  readSignature,
  type Signature,
  type Signer,
  signatureLine,
  signerOf,
  signText,
  type Verifier,
  verifySignature,
} from './notes/note.js'
export { smallOrderProblem } from './notes/small-order.js'
export { parseTrustPolicy, signedBefore, signedByLog, type TrustPolicy } from './notes/trust.js'
export { errorText, jsonText, printable } from './printable.js'
export { agentFactsIn, type RecordedFacts } from './record/agent-facts.js'
export { afterSizeIn, type PublishedRoots } from './record/integrity.js'
export {
  type CountedBy,
  type IssuedReport,
  maxAheadMs,
  type Receipts,
  receiptsOf,
  reportIn,
} from './record/issued-report.js'
export { openedLeaf, type StoredRecord } from './record/leaf.js'
export {
  actionDigest,
  commitment,
  commitmentOfText,
  fieldsDigest,
  firstUnopened,
  leafHash,
  logIdOf,
  noCheckpoint,
  payloadFields,
  policySetDigest,
  receivedAtOf,
  recordText,
  saltBytes,
} from './record/record.js'
export {
  covers,
  type IndexSpan,
  minRetentionDays,
  type RemovalAuthorization,
  removalAuthorizationIn,
} from './record/removal-authorization.js'
export { restartIn } from './record/restarts.js'
export {
  advance,
  occurredAt,
  type StoredEntry,
  type StoredHead,
  type StoredLeaf,
  type StoredPayload,
} from './record/stored.js'
export { type TaskVerifier, type TreeFinding, taskVerifier } from './record/verify.js'
export {
  consistencyRanges,
  emptyTree,
  Frontier,
  type Hash,
  inclusionRanges,
  joined,
  nodeHash,
  type Range,
  type Subtree,
  subtreesOf,
  verifyConsistency,
  verifyInclusion,
} from './tree/merkle.js'
