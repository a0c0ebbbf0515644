// The exports of the package.
export { credentialsPath } from './access/credentials.js'
export { type Config, readConfig } from './config.js'
export { PlatformError } from './errors.js'
export type {
  ImpactAgent,
  ImpactReport,
  ImpactRequest,
  LeftOutReason,
  ManifestChange,
  TaskFlip,
  TaskShare,
} from './git/impact/impact-report.js'
export { type AssignmentState, type InForce, inForceAfter } from './git/in-force.js'
export { entryProblem, type ManifestText, manifestText } from './git/source/manifest-text.js'
export { SourceError, type SourceFault, type TreeEntry } from './git/source/source.js'
export { createPlatform, type RunningPlatform } from './platform.js'
