// The names that other packages of this repository use of the engine beyond `index.ts`. They change without notice.
export { attributesOf } from './agent/registration.js'
export { compareLevels } from './agent/risk.js'
export { type Analysis, analyse, type ReadManifest } from './analysis/analyse.js'
export type { AnalysisFinding } from './analysis/examined.js'
export type { Goal } from './analysis/finish.js'
export type { FoundPath } from './analysis/paths.js'
export { didYouMean, nearest } from './check/nearest.js'
export { createNullRemoval } from './check/null-members.js'
export { onOneLine, quote, quotePath } from './check/quote.js'
export {
  createChecker,
  fieldProblem,
  lazyCheck,
  problemSummary,
  type SchemaCheck,
  type SchemaProblem,
} from './check/schema-check.js'
export { suggestionFor } from './check/schema-words.js'
export { depthOf, maxValueDepth, readable, shallow } from './convert/exact.js'
export { lineAndColumnOf, readValue } from './convert/json-value.js'
export { type AgentClaim, agentKeyOf, claimOf, streamKeyOf, strongerClaim } from './convert/otel/agent.js'
export { spanOrigin } from './convert/otel/evidence.js'
export { contentOf, conversationOf, isSameSpan, leanSpan, toolsOfSpan } from './convert/otel/facts.js'
export { operationOf } from './convert/otel/operation.js'
export { isOtlp, readOtlp, readOtlpBody, readOtlpText, spansIn } from './convert/otel/otlp.js'
export type { Sliced } from './convert/otel/sliced.js'
export { readSpan, type Span } from './convert/otel/span.js'
export { type BatchStep, batchOfSpans } from './convert/otel/steps-of-batch.js'
export { stepsOfSpans } from './convert/otel/steps-of-spans.js'
export { withOutputObject } from './convert/output-value.js'
export {
  descriptionOf,
  formatOfRun,
  hasMessages,
  type RunFormatName,
  readRun,
  runFormatNames,
  runValuesOf,
} from './convert/run-formats.js'
export { argumentsOf, type Body, callId, callView, eachShallow, withUser } from './convert/step-body.js'
export { lineTime, stepsOf } from './convert/steps-of-run.js'
export { taskIdOf } from './convert/task-id.js'
export type { DoubtCode, Guess } from './convert/tool-guess.js'
export type { Verb } from './convert/tool-words.js'
export { type Meanings, meaningsBy, type ToolMeaning } from './convert/tools.js'
export type { EvaluationRow, TraceLineReading } from './convert/trace-line.js'
export { agentOfStart, createStepCheck, toolOfStep, toolsDeclaredBy } from './convert/trace-step.js'
export { idOf, present, type Transcript, toolsIn } from './convert/transcript.js'
export { unknownVariables, variables } from './environment.js'
export { readIfThere, replaceFile, sharedFolderProblem } from './files/durable-file.js'
export { LockTaken, takeLock } from './files/lock-file.js'
export { byPlace, type Finding, findingAt, startOf } from './findings/finding.js'
export { findingHeads, findingRows } from './findings/finding-rows.js'
export { type FindingId, findingKind, findingKinds } from './findings/kinds.js'
export { markdownCode, markdownText } from './findings/markdown.js'
export { boldName, limited, messageMarkdown, placeMarkdown, row, shortened, table } from './findings/markdown-parts.js'
export { sarifOf } from './findings/sarif.js'
export { capitalized, counted, listed } from './findings/words.js'
export { type Annotation, annotationsOf, logLine, workflowCommands } from './findings/workflow-commands.js'
export { diffManifests } from './impact/diff/diff.js'
export { type DiffFile, type DiffReport, diffFiles, type FileDiff, type InventoryAgent } from './impact/diff/files.js'
export { readInventory } from './impact/diff/inventory.js'
export { changeLegend, diffMarkdown, policyMarkdown } from './impact/diff/markdown.js'
export { pairFiles } from './impact/diff/pair-files.js'
export {
  combined,
  type ManifestDiff,
  type MemberChange,
  type PolicyChange,
  type WaiverChange,
} from './impact/diff/result.js'
export { diffText, type Paint } from './impact/diff/text.js'
export { byChange, changeWords, valuesInWords } from './impact/diff/words.js'
export { createImpact, type FirstFlip, type Impact, type ImpactInput, type TaskCounts } from './impact/impact.js'
export { impactMarkdown, stepCells, stepHeads } from './impact/impact-markdown.js'
export { impactText } from './impact/impact-text.js'
export {
  changeSentence,
  leftOutWords,
  pathNote,
  replayedWords,
  type ShownReplay,
  type ShownStep,
  stepWords,
  taskChanges,
} from './impact/impact-words.js'
export { neverApplied } from './impact/replay/findings.js'
export {
  policiesOfManifests,
  type ReplayManifest,
  type ReplayPolicies,
  type ReplayPolicy,
  samePolicies,
} from './impact/replay/policies.js'
export {
  createReplay,
  type EvaluatedStep,
  type Replay,
  type ReplayLine,
  type ReplayOptions,
} from './impact/replay/replay.js'
export type { Cause, Flip, Listed, PolicyTally, ReplayResult, StepPlace } from './impact/replay/result.js'
export { wilsonInterval } from './impact/wilson-interval.js'
export { waivedUntil } from './manifest/agent/materialise.js'
export { lastDayOf, waiverEnd } from './manifest/agent/waiver-days.js'
export { blobSha } from './manifest/blob-sha.js'
export { manifestSchema, plainSchemas, testFileSchema } from './manifest/editor/schema.js'
export {
  isLeftOut,
  isManifestInFolder,
  isTestFile,
  isYamlFile,
  isYamlInFolder,
  manifestsOfTestFile,
  testFilesOf,
  withoutYamlEnding,
} from './manifest/file-names.js'
export { isManifest, looksLikeManifest } from './manifest/looks-like-manifest.js'
export { type ManifestTest, parseTestFile } from './manifest/parse/parse.js'
export { type ManifestTable, manifestTable } from './manifest/tables/table.js'
export { tableMarkdown } from './manifest/tables/table-markdown.js'
export type { LocatedTest, SourceFile } from './manifest/tests/suites.js'
export { failedTestTexts } from './manifest/tests/tests-markdown.js'
export {
  testErrors,
  type ValidatedManifest,
  type Validation,
  type ValidationOptions,
  validateText,
} from './manifest/validate.js'
export { validationReport } from './manifest/validation-report.js'
export { readYaml } from './manifest/yaml/read-yaml.js'
export { writeYaml } from './manifest/yaml/write-yaml.js'
export { oneLabel, withStatedLabels } from './memory/labels.js'
export { keyedDigest } from './memory/marks.js'
export type { MemoryUse } from './memory/use.js'
export { stopsStep } from './policy/evaluate.js'
export type { ExplainedPolicy, Explanation } from './policy/explain.js'
export { messageOfViolation } from './policy/messages.js'
export { readPolicy, writePolicy } from './policy/policy-input.js'
export { Rejudge, type RejudgedEntry } from './rejudge/rejudge.js'
export { newSurvey, type Survey, surveyRecord } from './rejudge/survey.js'
export type { RejudgeReason } from './rejudge/task.js'
export type { RuleContext, Scope } from './rules/form/rule.js'
export { digestOfGate, gateProblem } from './rules/gates/gate-words.js'
export { type OthersLabel, othersIn, statedLabels } from './rules/taint/labels.js'
export { isExternalCall } from './rules/taint/target-trust.js'
export { readHost } from './rules/values/host.js'
export { filesInTree, type GitFile, textsInBatch } from './source/git-output.js'
export { untilStopped } from './stop-signal.js'
export { type StepColumns, stepColumns } from './task/logged.js'
export { readBatches, readLines } from './trace/recall/read-lines.js'
export type { TraceReader } from './trace/recall/read-trace.js'
