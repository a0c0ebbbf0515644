// The jobs of installations: one is followed when a webhook announces a change, all of them at the start and hourly.
import { defineJob, type Job, type Send } from '@svc/platform'
import { asJob } from '../github/retry-later.js'
import { followInstallation, followInstallations, type InstallationParts } from './follow.js'

const followName = 'follow-github-installation'
const followAllName = 'follow-github-installations'

interface Named {
  readonly installation_id: number
  readonly [name: string]: number
}

export function installationJobs(parts: InstallationParts): Job[] {
  return [
    defineJob<Named>({
      name: followName,
      key: ({ installation_id }) => String(installation_id),
      timeout_seconds: 600,
      retries: 8,
      run: ({ installation_id }, _signal, send) =>
        asJob(followInstallation(parts, installation_id, send), (after_seconds) =>
          send(followName, { installation_id }, { after_seconds }),
        ),
    }),
    defineJob({
      name: followAllName,
      schedule: '41 * * * *',
      timeout_seconds: 300,
      retries: 3,
      run: (_data, _signal, send) =>
        asJob(
          followInstallations(parts, (id) => sendInstallation(send, id)),
          (after_seconds) => send(followAllName, {}, { after_seconds }),
        ),
    }),
  ]
}

/** Lets an installation be followed soon. */
export function sendInstallation(send: Send, installation_id: number): Promise<void> {
  return send(followName, { installation_id })
}

/** Lets every installation be followed soon. */
export function sendInstallations(send: Send): Promise<void> {
  return send(followAllName, {})
}
