// The parts that the pages use.
import type { AccessParts } from '../access/parts.js'
import type { Authentication } from '../http/principal.js'
import type { Triggering } from '../incidents/actions/triggers.js'
import type { Api, Caller } from './api.js'

export interface PageParts extends AccessParts, Triggering {
  /** The API as a person may use it. */
  readonly api: (caller: Caller) => Api
  readonly authenticate: Authentication['authenticate']
  /** The address at which people reach the platform, where the operator has configured it. */
  readonly public_url: string | null
  /** False where mails are printed. */
  readonly sends_mail: boolean
}
