import type { LogKey } from '@svc/schemas'

/** The name and the keys of the checkpoints of this installation. */
export interface LogIdentity {
  readonly host: string
  /** The signing key as a trust policy names it for the log of an origin. */
  readonly verifierOf: (origin: string) => string
  /** Every key that signs or has signed the log of an organization. */
  readonly keysOf: (org_id: string) => readonly LogKey[]
}
