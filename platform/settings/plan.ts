// What a document of settings would do to a workspace. The same plan is shown and applied.
import { createHash } from 'node:crypto'
import { quote } from '@svc/engine/parts'
import type { SettingsComparison, SettingsDocument } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { ActionParts } from '../incidents/actions/parts.js'
import { workspaceName } from '../log/bundle/store.js'
import { setRetentionIn } from '../log/retention/commands/set-retention.js'
import { retentionDays } from '../log/retention/store/retention.js'
import { planActions } from './plan-actions.js'
import { planViews } from './plan-views.js'
import { createRejections, type ReadDocument } from './read-document.js'
import { left, type PlanPart, retentionChanged, type Step } from './steps.js'

export interface Plan {
  readonly steps: readonly Step[]
  readonly comparison: SettingsComparison
}

/** Reads the workspace and writes nothing. Rejects with INVALID naming every field that the workspace cannot take. */
export async function planOf(parts: ActionParts, scope: Scope, tx: Transaction, read: ReadDocument): Promise<Plan> {
  const rejections = createRejections(read)
  const { document } = read
  const all = [
    await planRetention(scope, tx, document),
    await planActions(parts, scope, tx, read, rejections),
    await planViews(scope, tx, read, rejections),
  ]
  rejections.assertNone()
  const steps = all.flatMap((part) => part.steps)
  const shown = {
    changes: steps.map(({ change }) => change),
    left_alone: all.flatMap((part) => part.left_alone),
    unchanged: all.reduce((sum, part) => sum + part.unchanged, 0),
    notes: await notesOf(scope, tx, document),
  }
  // Two addresses can look the same without their secret parts; the document has them whole.
  const digest = createHash('sha256')
    .update(JSON.stringify([document, shown]))
    .digest('hex')
  return { steps, comparison: { digest, ...shown } }
}

async function planRetention(scope: Scope, tx: Transaction, { retention }: SettingsDocument): Promise<PlanPart> {
  const days = await retentionDays(scope, tx)
  if (retention === undefined)
    return { steps: [], left_alone: [left({ kind: 'retention', name: 'retention', list: null })], unchanged: 0 }
  const { retention_days } = retention
  if (retention_days === days) return { steps: [], left_alone: [], unchanged: 1 }
  const run = async (write: Transaction, now: number) => {
    await setRetentionIn(scope, write, now, retention_days)
    return null
  }
  return { steps: [{ change: retentionChanged(days, retention_days), run }], left_alone: [], unchanged: 0 }
}

async function notesOf(scope: Scope, tx: Transaction, { workspace }: SettingsDocument): Promise<string[]> {
  const name = await workspaceName(scope, tx)
  if (workspace === undefined || workspace.name === name) return []
  const [theirs, own] = [quote(workspace.name), quote(name ?? '')]
  return [`the document is from the workspace ${theirs}; the name of this workspace, ${own}, stays`]
}
