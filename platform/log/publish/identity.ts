import type { LogKey } from '@svc/schemas'

/** What checkpoints of this installation are called and signed with. */
export interface LogIdentity {
  readonly host: string
  /** The key as a trust policy for the log of that origin names it. */
  readonly verifierOf: (origin: string) => string
  /** Every key that signs or has signed the log of an organization. */
  readonly keysOf: (org_id: string) => readonly LogKey[]
}
