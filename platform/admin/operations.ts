// The operations of the operator. The command line, the socket and the help follow this list. An operation imports its
// command when it runs, because every start of the command line reads the list.
import type { Database } from '../db/db.js'
import { PlatformError } from '../errors.js'
import type { KeyFile } from '../secrets/key-file.js'

export interface AdminParts {
  readonly db: Database
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** The address at which people reach the platform. */
  readonly url: () => string
  /** Null for an install whose encryption key is configured, and without a running platform. */
  readonly keyFile: KeyFile | null
}

export interface AdminOperation {
  readonly name: string
  readonly summary: string
  /** The subject of the operation; null for the installation. */
  readonly argument: 'email' | null
  /** Returns the lines to print. Rejects with a PlatformError. */
  readonly run: (parts: AdminParts, email: string) => Promise<readonly string[]>
}

export const adminOperations: readonly AdminOperation[] = [
  {
    name: 'release',
    summary: 'release a waitlisted account (SVC_REGISTRATION_CAP)',
    argument: 'email',
    run: async ({ db }, email) => {
      const { releaseAccount } = await import('../access/commands/release-account.js')
      await releaseAccount(db, email)
      return [`${email}: released`]
    },
  },
  {
    name: 'sign-in-link',
    summary: 'print a sign-in link for an address, valid once and for 15 minutes',
    argument: 'email',
    run: async ({ db, clock, url }, email) => {
      const { makeLink } = await import('../access/commands/send-link.js')
      return [await makeLink(db, clock(), url(), email)]
    },
  },
  {
    name: 'write-key-file',
    summary: 'write the encryption key of the running platform to its file again, when the file was lost',
    argument: null,
    run: async ({ keyFile }) => {
      if (keyFile === null) throw noKeyFile()
      return [`${keyFile.write()}: written`]
    },
  },
]

function noKeyFile(): PlatformError {
  return new PlatformError(
    'CONFLICT',
    'only a running platform with an embedded database and without SVC_ENCRYPTION_KEY can write its key: check SVC_DATA_DIR, and restore the file from a backup if the platform has stopped',
  )
}
