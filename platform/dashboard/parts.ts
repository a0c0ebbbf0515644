// What the pages of people use.
import type { AccessParts } from '../access/parts.js'
import type { Authentication } from '../http/principal.js'

export interface PageParts extends AccessParts {
  readonly authenticate: Authentication['authenticate']
  /** Where people reach the platform, when the operator has configured it. */
  readonly public_url: string | null
  /** False where mails are printed instead. */
  readonly sends_mail: boolean
}
