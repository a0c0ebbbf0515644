// Compares a document of settings with the workspace, and applies it whole.
import type { SettingsComparison, SettingsRequest, SettingsResult } from '@svc/schemas'
import { changeAs } from '../access/commands/members.js'
import { withSnapshot } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { admins } from '../http/principal.js'
import type { ActionParts } from '../incidents/actions/parts.js'
import { planOf } from './plan.js'
import { readDocument } from './read-document.js'

/** What applying the document would do. Rejects with INVALID. */
export async function compareSettings(
  parts: ActionParts,
  scope: Scope,
  { text }: SettingsRequest,
): Promise<SettingsComparison> {
  const read = readDocument(text)
  return withSnapshot(parts.db, scope, async (tx) => (await planOf(parts, scope, tx, read)).comparison)
}

/**
 * Applies the document in one transaction, with the events of each change; one that changes nothing records none. Rejects with
 * INVALID, with PRECONDITION_FAILED for a digest of another comparison, and with ENCRYPTION_KEY_INVALID.
 */
export async function applySettings(
  parts: ActionParts,
  scope: Scope,
  { text, digest: expected }: SettingsRequest,
): Promise<SettingsResult> {
  const read = readDocument(text)
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const { steps, comparison } = await planOf(parts, scope, tx, read)
    const { digest, ...shown } = comparison
    if (expected !== undefined && expected !== digest)
      throw new PlatformError(
        'PRECONDITION_FAILED',
        'the workspace or the document has changed since they were compared, and nothing was applied: compare them again',
      )
    const made = []
    for (const { run } of steps) made.push(await run(tx, now))
    return { ...shown, made: made.flatMap((one) => one ?? []) }
  })
}
