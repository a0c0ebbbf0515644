// The exports of the package.
import type { ConfigureRoom } from '@svc/platform'
import { readAppConfig } from './config.js'
import { openApp } from './room.js'

export const configureGithubApp: ConfigureRoom = (env) => {
  const { value: config, errors } = readAppConfig(env)
  return { value: config === null ? null : (ground) => openApp(config, ground), errors }
}
