// A push that a Git host announces: a hint to read the branch soon. Its content is not trusted (docs/design/git.md §3).
import { createHmac, timingSafeEqual } from 'node:crypto'
import { withTransaction } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { webhookContext } from '../../secrets/store.js'
import { type GitParts, openSealed } from '../parts.js'
import { readSoon } from '../read-soon.js'
import { findRepository } from '../store/repositories.js'

interface Delivery {
  readonly org_id: string
  readonly repo_id: number
  readonly raw: Uint8Array
  readonly header: (name: string) => string | undefined
}

/**
 * Lets the branch be read soon. The sender proves that it has the secret: an HMAC-SHA256 of the body in `X-Hub-Signature-256`
 * or `X-Gitea-Signature`, or the secret itself in `X-Gitlab-Token`. Rejects with UNAUTHENTICATED, also for a repository that
 * does not exist or has no secret.
 */
export async function takeWebhook(parts: GitParts, { org_id, repo_id, raw, header }: Delivery): Promise<void> {
  const secret = await secretOf(parts, org_id, repo_id)
  if (secret === null || !isProven(secret, raw, header)) throw unproven()
  await readSoon(parts, scopeOf(org_id, { kind: 'system', id: 'webhook' }), repo_id)
}

async function secretOf({ db, sealer }: GitParts, org_id: string, repo_id: number): Promise<string | null> {
  if (!/^org_[0-9a-f]+$/.test(org_id)) return null
  const scope: Scope = scopeOf(org_id, { kind: 'system', id: 'webhook' })
  const found = await withTransaction(db, scope, (tx) => findRepository(scope, tx, repo_id))
  const sealed = found?.sealed_webhook_secret ?? null
  return sealed === null ? null : openSealed(sealer, webhookContext(org_id, repo_id), sealed)
}

function isProven(secret: string, raw: Uint8Array, header: Delivery['header']): boolean {
  const signature = header('x-hub-signature-256')?.replace(/^sha256=/, '') ?? header('x-gitea-signature')
  if (signature !== undefined) return isEqual(signature, createHmac('sha256', secret).update(raw).digest('hex'))
  const token = header('x-gitlab-token')
  return token !== undefined && isEqual(token, secret)
}

function isEqual(some: string, other: string): boolean {
  const [a, b] = [Buffer.from(some), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function unproven(): PlatformError {
  const message =
    'the signature is missing or wrong: sign the body with the secret of the webhook, as `X-Hub-Signature-256: sha256=HMAC`; make a new secret with POST /api/v1/repos/{id}/webhook-secret'
  return new PlatformError('UNAUTHENTICATED', message)
}
