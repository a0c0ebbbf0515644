// The exports of the package.
export { credentialsPath } from './access/credentials.js'
export { type Config, readConfig } from './config.js'
export { PlatformError } from './errors.js'
export { createPlatform, type RunningPlatform } from './platform.js'
export type { ConfigureRoom, Ground, OpenRoom, RequestParts, Room } from './room.js'
