// What the actions of a document would do to those of a workspace. They are matched by name.
import type { Action, ActionRequest, SettingsChange } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { invalid } from '../errors.js'
import { changeActionIn, differentMembers, readChange } from '../incidents/actions/commands/change-action.js'
import { assertNewAction, createActionIn, readAction } from '../incidents/actions/commands/create-action.js'
import type { ActionParts } from '../incidents/actions/parts.js'
import { allActions } from '../incidents/actions/store/actions.js'
import type { ReadDocument, Rejections } from './read-document.js'
import { changed, created, left, type PlanPart, type Step, twice } from './steps.js'

export async function planActions(
  parts: ActionParts,
  scope: Scope,
  tx: Transaction,
  { document: { actions = [] }, lineOf }: ReadDocument,
  rejections: Rejections,
): Promise<PlanPart> {
  const known = await allActions(scope, tx)
  const steps: Step[] = []
  for (const [index, request] of actions.entries()) {
    const path = `actions.${index}`
    const isNamed = ({ name }: { readonly name: string }) => name === request.name
    const first = actions.findIndex(isNamed)
    const [before, other] = known.filter(isNamed)
    if (first < index) {
      rejections.add(`${path}.name`, twice('action', lineOf(`actions.${first}`), lineOf(path)))
      continue
    }
    if (before !== undefined && other !== undefined) {
      rejections.add(`${path}.name`, ambiguous(before, other))
      continue
    }
    const step = await rejections.within(path, () => {
      const more = steps.filter(({ change }) => change.change === 'create').length
      return before === undefined
        ? creation(parts, scope, tx, request, more)
        : changing(parts, scope, tx, request, before)
    })
    if (step !== null) steps.push(step)
  }
  const others = known.filter(({ name }) => !actions.some((action) => action.name === name))
  const left_alone = others.map(({ name }) => left({ kind: 'action', name, list: null }))
  return { steps, left_alone, unchanged: actions.length - steps.length }
}

function ambiguous(one: Action, other: Action): string {
  return `is the name of several actions of the workspace, \`${one.id}\` and \`${other.id}\`: rename one of them first`
}

/** Of a new action, apart from its name. */
const shownMembers = ['kind', 'on', 'min_severity', 'agent_ids', 'policy_ids', 'config', 'enabled'] as const

async function creation(
  parts: ActionParts,
  scope: Scope,
  tx: Transaction,
  request: ActionRequest,
  more: number,
): Promise<Step> {
  const written = readAction(parts, request)
  await assertNewAction(scope, tx, written, more)
  const members = shownMembers.map((name) => ({ name, from: null, to: written[name] }))
  return {
    change: created({ kind: 'action', name: written.name, list: null }, members),
    run: (write, now) => createActionIn(parts, scope, write, now, written),
  }
}

/** Null for an action that is as the document states it. */
async function changing(
  parts: ActionParts,
  scope: Scope,
  tx: Transaction,
  { kind, ...change }: ActionRequest,
  known: Action,
): Promise<Step | null> {
  if (kind !== known.kind)
    throw invalid([
      {
        path: 'kind',
        message: `cannot be changed: the action is of the kind \`${known.kind}\`, so write that, or give this one another \`name\``,
      },
    ])
  const { values, target } = await readChange(parts, scope, tx, known, change)
  const names = differentMembers(known, values)
  const members: SettingsChange['members'] = names.map((name) => ({ name, from: known[name], to: values[name] }))
  // Without its secret parts, a new address can look as the one before.
  if (target !== null && !names.includes('config'))
    members.push({ name: 'config', from: known.config, to: values.config })
  if (known.enabled !== values.enabled) members.push({ name: 'enabled', from: known.enabled, to: values.enabled })
  if (members.length === 0) return null
  return {
    change: changed({ kind: 'action', name: known.name, list: null }, members),
    run: async (write, now) => {
      await changeActionIn(parts, scope, write, now, known.id, change)
      return null
    },
  }
}
