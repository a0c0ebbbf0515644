// The exports of the package.
export { credentialsPath } from './access/credentials.js'
export { organizationsUnscoped } from './access/store/organizations.js'
export { type Config, readConfig } from './config.js'
export {
  type Database,
  type Transaction,
  withSnapshot,
  withTransaction,
  withUnscopedTransaction,
} from './db/db.js'
export { type Scope, scopeOf } from './db/scope.js'
export { PlatformError } from './errors.js'
export {
  type CoveredRepository,
  coverRepository,
  renameRepositories,
  uncoverRepositories,
} from './git/commands/follow-installation.js'
export { type AskGithub, askWith, createGithubApi, type GithubApi, orNull, refPath, shaIn } from './git/github/api.js'
export { type ImpactOptions, impactOf } from './git/impact/impact.js'
export type {
  ImpactAgent,
  ImpactReport,
  ImpactRequest,
  ManifestChange,
  TaskFlip,
} from './git/impact/impact-report.js'
export { type AssignmentState, type InForce, inForceAfter } from './git/in-force.js'
export { type Installation, type Installations, notCovered } from './git/installations.js'
export type { ReadingParts } from './git/parts.js'
export { readSoon } from './git/read-soon.js'
export { reconcile } from './git/reconcile.js'
export type { Reading } from './git/recorded/reading.js'
export type { LeftOutReason } from './git/recorded/whole-tasks.js'
export { entryProblem, manifestText } from './git/source/manifest-text.js'
export { type GitSource, SourceError, type TreeEntry } from './git/source/source.js'
export { assignedPaths, type InstalledRow, installedRepositories } from './git/store/installed.js'
export { byAnonymous, type Route, route } from './http/route.js'
export { defineJob, type Job, type JobData, type Send } from './jobs/job.js'
export { createOutgoing } from './outgoing/outgoing.js'
export { createTargets } from './outgoing/targets.js'
export { createPlatform, type RunningPlatform } from './platform.js'
export type { ConfigureRoom, Ground, Room } from './room.js'
