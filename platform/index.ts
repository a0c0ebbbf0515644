// The exports of the package.
export { credentialsPath } from './access/credentials.js'
export { type Config, readConfig } from './config.js'
export { PlatformError } from './errors.js'
export { type ImpactOptions, impactOf } from './git/impact/impact.js'
export type {
  ImpactAgent,
  ImpactReport,
  ImpactRequest,
  ManifestChange,
  PinnedAgent,
  TaskFlip,
  TaskShare,
} from './git/impact/impact-report.js'
export type { Reading } from './git/recorded/reading.js'
export type { LeftOutReason } from './git/recorded/whole-tasks.js'
export { createPlatform, type RunningPlatform } from './platform.js'
export type { ConfigureRoom, Ground, OpenRoom, RequestParts, Room } from './room.js'
