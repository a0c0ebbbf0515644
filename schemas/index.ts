// Everything that crosses a wire, as JSON Schema 2020-12 documents and as types.
export { components } from './components.js'
export { documents, type SchemaName } from './documents.js'
export {
  countEffects,
  type Effect,
  type EffectCounts,
  effectOf,
  effectWords,
  mergedEffect,
  worstEffect,
} from './effects.js'
export {
  canonicalType,
  hasWritePermission,
  isBlocked,
  isoTime,
  isRfc3339,
  isStepType,
  type JsonMap,
  parseTimestamp,
  type Step,
  type StepType,
  spelling,
  stepTypesOf,
  type TaskStatus,
  taskStatus,
  verbProblem,
  verbsOf,
} from './steps.js'
export { hiddenCharacter, type TextFormat, textFormats } from './text.js'
export type * from './types.js'
export { productVersion, versionLines, versionOf } from './version.js'
export {
  closedValues,
  type PropertyWord,
  propertyWords,
  type StepWord,
  stepAliases,
  stepWords,
  verbs,
} from './vocabulary.js'
