// The jobs of installations: one is followed when a webhook announces a change, all of them at the start and hourly.
import { defineJob, type Job, type Send } from '@svc/platform'
import { followInstallation, followInstallations, type InstallationParts } from './follow.js'

const followName = 'follow-github-installation'
const followAllName = 'follow-github-installations'

interface Named {
  readonly installation_id: number
  /** The number of times that GitHub did not answer. */
  readonly tries: number
  readonly [name: string]: number
}

export function installationJobs(parts: InstallationParts): Job[] {
  const { send } = parts.reading
  return [
    defineJob<Named>({
      name: followName,
      key: ({ installation_id }) => String(installation_id),
      timeout_seconds: 600,
      retries: 8,
      run: ({ installation_id, tries = 0 }) =>
        parts.repeats.asJob(
          followInstallation(parts, installation_id),
          (after_seconds) => send(followName, { installation_id, tries: tries + 1 }, { after_seconds }),
          tries,
        ),
    }),
    defineJob<{ readonly tries: number }>({
      name: followAllName,
      schedule: '41 * * * *',
      at_start_seconds: 0,
      timeout_seconds: 300,
      retries: 3,
      run: ({ tries = 0 }) =>
        parts.repeats.asJob(
          followInstallations(parts, (id) => sendInstallation(send, id)),
          (after_seconds) => send(followAllName, { tries: tries + 1 }, { after_seconds }),
          tries,
        ),
    }),
  ]
}

/** Lets an installation be followed soon. */
export function sendInstallation(send: Send, installation_id: number): Promise<void> {
  return send(followName, { installation_id })
}
