// Settings, Retention: for how long entries are kept, the holds that keep some longer, and the erasures.
import type { Hold, Prune, Retention } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { decidersOf, type Named } from '../../people.js'
import { counted, countedOrNone, type Html, hash, link, nothing, number, piece, text, time } from '../../views/html.js'
import { card, type Question, question, table } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { askErasure, eraseNow, erasureCard } from './erasure.js'
import { heldBy } from './holds.js'
import { settings } from './settings.js'

const maxHolds = 20

async function show(visit: Visit): Promise<Shown> {
  const { read, may } = visit.api
  const [retention, active, nameOf] = await Promise.all([
    read('retention', '/api/v1/retention'),
    read('hold-list', '/api/v1/holds', { on: 'true', limit: String(maxHolds) }),
    decidersOf(visit),
  ])
  const mayChange = may('post', '/api/v1/retention')
  const asked = mayChange ? await askedIn(visit, retention) : null
  if (asked !== null) return settings(visit, 'retention', question(visit, asked))
  return settings(
    visit,
    'retention',
    card('Retention', kept(visit, retention, mayChange)),
    card('Holds', holdsView(visit, active, nameOf, mayChange)),
    await erasureCard(visit, nameOf),
    card('Deleted entries', prunesTable(retention.prunes, nameOf)),
  )
}

function kept({ csrf, query }: Visit, { retention_days }: Retention, mayChange: boolean): Html {
  return keptView({ csrf, days: number(retention_days), value: query.days ?? retention_days, mayChange })
}

const keptView =
  piece(`<p>Entries of the log are kept for <strong>{{days}} days</strong>. After that they are archived as a bundle and deleted, in whole months. Entries
on hold and entries of running tasks stay. Chains and proofs of the other entries stay valid.</p>
{{#if mayChange}}<form method="get" class="bar mb-0"><input type="hidden" name="confirm" value="retention">
<div><label class="form-label" for="days">Days, 184 or more</label>
<input class="form-control" id="days" name="days" type="number" min="184" max="36500" value="{{value}}" required></div>
<button class="btn btn-primary">Change …</button><a class="btn push" href="?confirm=prune">Delete older entries now …</a></form>
<p class="form-hint mb-0 mt-2">The minimum of 184 days is that of the EU AI Act, Art. 19 and 26(6).</p>{{/if}}`)

/** The question of the address; null without one. */
async function askedIn({ query, api: { read } }: Visit, retention: Retention): Promise<Question | null> {
  const { confirm, days = '', hold } = query
  if (confirm === 'retention' && /^\d{1,5}$/.test(days)) return changing(retention, Number(days))
  if (confirm === 'prune') return pruning(retention)
  if (confirm !== 'release' || hold === undefined) return null
  const { holds } = await read('hold-list', '/api/v1/holds', { on: 'true', limit: '200' })
  const found = holds.find(({ id }) => id === hold)
  return found === undefined ? null : releasing(found)
}

function changing({ retention_days }: Retention, days: number): Question {
  const isShorter = days < retention_days
  return {
    title: `Keep entries for ${counted(days, 'day')} instead of ${number(retention_days)}?`,
    effects: isShorter
      ? [
          `Whole months of entries that are older than ${counted(days, 'day')} are archived as a bundle and then deleted, within an hour.`,
          'Deleted entries cannot be restored into the log. Their archive can still be verified.',
          'Entries on hold and entries of running tasks stay.',
        ]
      : [
          `Entries are deleted ${counted(days - retention_days, 'day')} later than before.`,
          'Entries that were deleted already do not return.',
        ],
    act: 'retention',
    button: `Keep entries for ${counted(days, 'day')}`,
    back: paths.retention(),
    fields: { days: String(days) },
    isFinal: isShorter,
  }
}

function pruning({ retention_days }: Retention): Question {
  return {
    title: 'Delete older entries now?',
    effects: [
      `All entries that were received more than ${counted(retention_days, 'day')} ago are archived as a bundle, which is verified, and then deleted.`,
      'Entries on hold and entries of running tasks stay.',
      'The log states what was deleted, by whom, and the SHA-256 of the archive. Without older entries nothing happens.',
    ],
    act: 'prune',
    button: 'Delete older entries',
    back: paths.retention(),
  }
}

function releasing({ id, task_id, reason }: Hold): Question {
  return {
    title: task_id === null ? 'Release the hold on all entries?' : `Release the hold on the task ${task_id}?`,
    effects: [
      `The hold was placed for this reason: ${reason}`,
      'Entries that no other hold covers can be erased again, and are deleted when they are older than the retention.',
      'The hold stays in the list as released.',
    ],
    act: 'release',
    button: 'Release the hold',
    back: paths.retention(),
    fields: { hold: id },
  }
}

function holdsView(
  { csrf, form }: Visit,
  { holds, total }: { readonly holds: readonly Hold[]; readonly total: number },
  nameOf: Named,
  mayChange: boolean,
): Html {
  const list = table<Hold>(
    'Active holds',
    [
      { head: 'Holds', cell: ({ task_id }) => heldBy(task_id) },
      { head: 'Reason', cell: ({ reason }) => text(reason) },
      { head: 'Placed', cell: ({ placed_at }) => time(placed_at) },
      { head: 'By', cell: ({ placed_by }) => nameOf(placed_by) },
      {
        head: 'Change',
        cell: ({ id }) =>
          mayChange ? link(address(paths.retention(), { confirm: 'release', hold: id }), 'Release …') : nothing,
      },
    ],
    holds,
    'No hold is active.',
  )
  const active = link(paths.holds({ on: 'true' }), countedOrNone(total, 'active hold'))
  const all = link(paths.holds(), 'all holds')
  const typed = { task_id: field(form, 'act') === 'hold' ? field(form, 'task_id') : '', reason: field(form, 'reason') }
  return holdView({ csrf, list, active, all, mayChange, ...typed })
}

const holdView =
  piece(`<p>A hold keeps the entries of a task, or all entries, from erasure and deletion, such as while a complaint is open.
{{active}}, {{all}}.</p>{{list}}
{{#if mayChange}}<form method="post" class="bar mt-3 mb-0"><input type="hidden" name="csrf" value="{{csrf}}">
<div><label class="form-label" for="hold-task">Task id (empty: all)</label><input class="form-control" id="hold-task" name="task_id" value="{{task_id}}" maxlength="200"></div>
<div class="flex-fill"><label class="form-label" for="reason">Reason</label><input class="form-control" id="reason" name="reason" value="{{reason}}" maxlength="500" required></div>
<button class="btn btn-primary" name="act" value="hold">Place the hold</button></form>{{/if}}`)

function prunesTable(prunes: readonly Prune[], nameOf: Named): Html {
  return table<Prune>(
    'Deleted entries',
    [
      { head: 'Time', cell: ({ pruned_at }) => time(pruned_at) },
      { head: 'Deleted entries', cell: ({ entries }) => text(number(entries)) },
      { head: 'Received before', cell: ({ before }) => time(before) },
      { head: 'Archive', cell: ({ archive }) => text(archive) },
      { head: 'SHA-256', cell: ({ archive_sha256 }) => hash(archive_sha256) },
      { head: 'By', cell: ({ pruned_by }) => nameOf(pruned_by) },
      { head: 'Basis', cell: ({ legal_basis }) => text(legal_basis) },
    ],
    prunes,
    'No entries were deleted yet. The first are those that become older than the retention.',
  )
}

const setRetention: Act = async ({ api: { change } }, form) => {
  await change('retention', 'post', '/api/v1/retention', { retention_days: Number(field(form, 'days')) })
  return paths.retention()
}

const prune: Act = async ({ api: { change } }) => {
  await change('retention', 'post', '/api/v1/retention/prune')
  return paths.retention()
}

const placeHold: Act = async ({ api: { change } }, form) => {
  const task_id = field(form, 'task_id').trim()
  const reason = field(form, 'reason')
  await change('hold', 'post', '/api/v1/holds', { ...(task_id !== '' && { task_id }), reason })
  return paths.retention()
}

const release: Act = async ({ api: { change } }, form) => {
  await change('hold', 'post', api`/api/v1/holds/${field(form, 'hold')}/release`)
  return paths.retention()
}

export const retentionPage: DashboardPage = {
  path: '/settings/retention',
  show,
  acts: { retention: setRetention, prune, hold: placeHold, release, ask: askErasure, erase: eraseNow },
}
