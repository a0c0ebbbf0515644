// The operations of the operator on accounts. The command line, the socket and the help follow this list. An operation imports its
// command when it runs, because every start of the command line reads the list.
import type { Database } from '../db/db.js'

export interface AdminParts {
  readonly db: Database
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** The address at which people reach the platform. */
  readonly url: () => string
}

export interface AdminOperation {
  readonly name: string
  readonly summary: string
  /** Returns the lines to print. Rejects with a PlatformError. */
  readonly run: (parts: AdminParts, email: string) => Promise<readonly string[]>
}

export const adminOperations: readonly AdminOperation[] = [
  {
    name: 'release',
    summary: 'release a waitlisted account (SVC_REGISTRATION_CAP)',
    run: async ({ db, clock }, email) => {
      const { releaseAccount } = await import('../access/commands/release-account.js')
      const { connectLibrary } = await import('../git/commands/connect-library.js')
      await releaseAccount(db, email, clock(), connectLibrary)
      return [`${email}: released`]
    },
  },
  {
    name: 'sign-in-link',
    summary: 'print a sign-in link for an address, valid once and for 15 minutes',
    run: async ({ db, clock, url }, email) => {
      const { makeLink } = await import('../access/commands/send-link.js')
      return [await makeLink(db, clock(), url(), email)]
    },
  },
]
