// What other packages may use of the engine.
export { factsAsSaid, factsTightened, type SaidContext } from './context.js'
export { readIfThere, replaceFile } from './durable-file.js'
export { unknownVariables, variables } from './environment.js'
export { LockTaken, takeLock } from './lock-file.js'
export { type AddCheckpoint, formatAddCheckpoint, parseAddCheckpoint } from './log/add-checkpoint.js'
export {
  type BundledAuthority,
  type BundledCheckpoint,
  bundleFiles,
  listedFiles,
  manifestStatement,
  payloadLine,
} from './log/bundle.js'
export { canonical } from './log/canonical.js'
export { maxCompoundDepth, maxPolicyDepth, maxRequestDepth, maxStoredDepth } from './log/depth.js'
export { afterSizeIn, type PublishedRoots } from './log/integrity.js'
export { keyLines } from './log/key-lines.js'
export { openedLeaf, type StoredRecord } from './log/leaf.js'
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
} from './log/merkle.js'
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
} from './log/note.js'
export {
  actionDigest,
  commitment,
  commitmentOfText,
  leafHash,
  logIdOf,
  noCheckpoint,
  type PayloadField,
  payloadFields,
  policySetDigest,
  receivedAtOf,
  recordText,
  saltBytes,
} from './log/record.js'
export { covers, type Places, type Removal, removalIn } from './log/removals.js'
export { restartIn } from './log/restarts.js'
export { smallOrderProblem } from './log/small-order.js'
export {
  advance,
  occurredAt,
  type StoredEntry,
  type StoredHead,
  type StoredLeaf,
  type StoredPayload,
} from './log/stored.js'
export { type JsonProblem, type JsonReading, lineAndColumn, parseStrictJson } from './log/strict-json.js'
export { parseTrustPolicy, signedByLog, type TrustPolicy } from './log/trust.js'
export { type TaskVerifier, type TreeFinding, taskVerifier } from './log/verify.js'
export { largestZip, type ZipEntry, zipLayout } from './log/zip.js'
export { type Assignment, type Materialised, manifestIdOf, materialise, waivedUntil } from './manifest/materialise.js'
export {
  type ManifestError,
  type ManifestReading,
  type ManifestTest,
  type ManifestWarning,
  parseManifest,
  parseTestFile,
  type TestFileReading,
} from './manifest/parse.js'
export { manifestSchema } from './manifest/schema.js'
export { runTests, type TestResult } from './manifest/test.js'
export { didYouMean } from './nearest.js'
export { createNullRemoval, type NullRemoval } from './null-members.js'
export { compile, type PolicyInput, type PolicySet } from './policy/compile.js'
export { type Decision, evaluate } from './policy/evaluate.js'
export { newHistory, record } from './policy/history.js'
export { type Occasion, occasionOf } from './policy/plan.js'
export { compareLevels, levelApplies, type RiskLevel } from './policy/risk.js'
export { attributesOf, registrationFacts } from './registration.js'
export { isExternalCall } from './rules/lookup.js'
export { rules } from './rules/registry.js'
export type { History, Scope, Situation } from './rules/rule.js'
export { createChecker, lazyCheck, problemSummary, type SchemaCheck, type SchemaProblem } from './schema-check.js'
export {
  canonicalType,
  hasWritePermission,
  isBlocked,
  type JsonMap,
  parseTimestamp,
  type Step,
  type TaskStatus,
  taskStatus,
  verbProblem,
} from './steps.js'
export { type RunState, startsRun, stateAfter } from './trace/runs.js'
export { type VerifyRequest, verifyBundle } from './verify/verify.js'
export { type PropertyWord, propertyWords, type StepWord, stepAliases, stepWords } from './vocabulary.js'
