// The exports of the package.
import type { ConfigureRoom } from '@svc/platform'

export const configureGithubApp: ConfigureRoom = () => ({ value: null, errors: [] })
