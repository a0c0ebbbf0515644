// Access to repositories through installations of the GitHub App, which the room of the App provides to this one.
import type { Scope } from '../db/scope.js'
import { SourceError } from './source/source.js'

/** A repository that an installation covers; both ids are GitHub's own. */
export interface Installation {
  readonly installation_id: number
  readonly github_id: number
}

export interface Installations {
  /** The installation of this workspace that covers the repository; null without one. Rejects with SourceError. */
  readonly find: (scope: Scope, owner: string, name: string) => Promise<Installation | null>
  /** A token that can read the contents of this repository and nothing else, and not a rejected one. Rejects with SourceError. */
  readonly token: (org_id: string, installation: Installation, rejected?: string) => Promise<string>
}

/** A platform without the App. */
export const noInstallations: Installations = {
  find: async () => null,
  token: async () => {
    const message =
      'the repository was connected by the GitHub App, which this platform does not run: set SVC_GITHUB_APP_ID again, or connect it with your own token'
    throw new SourceError('access_revoked', message)
  },
}

/** The error of a connection whose installation has ended. */
export function notCovered(): SourceError {
  const message =
    'the GitHub App is not installed for this repository any more: install it again, or set your own token with `svc repo-token ID --token-file FILE` or PATCH /api/v1/repos/{id}'
  return new SourceError('access_revoked', message)
}
