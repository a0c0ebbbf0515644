// The erasure of a task or a data subject: the question with what it touches, and the answer with what it does not reach.
import { PlatformError } from '../../../errors.js'
import { paths } from '../../paths.js'
import type { Named } from '../../people.js'
import { counted, countedOrNone, type Html, id, link, number, piece, text, time } from '../../views/html.js'
import { card, facts, question, table } from '../../views/pieces.js'
import { type Act, type Fields, field, type Visit } from '../../visit.js'
import { erasedText } from './holds.js'
import { settings } from './settings.js'

const latest = 5

/** The latest erasures, and the form of a new one. */
export async function erasureCard({ api: calls, csrf, form }: Visit, nameOf: Named): Promise<Html> {
  const { erasures, total } = await calls.read('erasure-list', '/api/v1/erasures', { limit: String(latest) })
  const list = table(
    'Latest erasures',
    [
      { head: 'Time', cell: ({ erased_at }) => time(erased_at) },
      { head: 'Erased', cell: ({ task_id }) => erasedText(task_id) },
      { head: 'Entries', cell: ({ entries }) => text(number(entries)) },
      { head: 'Legal basis', cell: ({ legal_basis }) => text(legal_basis) },
      { head: 'By', cell: ({ erased_by }) => nameOf(erased_by) },
    ],
    erasures,
    'Nothing was erased yet.',
  )
  const typed = ['ask', 'erase'].includes(field(form, 'act'))
  const value = (name: string) => (typed ? field(form, name) : '')
  return card(
    'Erasures',
    erasureView({
      csrf,
      list,
      all: link(paths.erasures(), countedOrNone(total, 'erasure')),
      mayErase: calls.may('post', '/api/v1/erasures'),
      bySubject: value('by') === 'subject',
      value: value('value'),
      legal_basis: value('legal_basis'),
    }),
  )
}

const erasureView =
  piece(`<p>An erasure deletes the payloads of a task, or of the steps that name a data subject. Chains and proofs stay valid, and the log states who
erased what, and on which legal basis. {{all}} so far.</p>{{list}}
{{#if mayErase}}<form method="post" class="bar mt-3 mb-0"><input type="hidden" name="csrf" value="{{csrf}}">
<div><label class="form-label" for="by">Erase</label><select class="form-select" id="by" name="by"><option value="task">a task</option>
<option value="subject"{{#if bySubject}} selected{{/if}}>a data subject</option></select></div>
<div class="flex-fill"><label class="form-label" for="value">Id of the task or of the subject</label><input class="form-control" id="value" name="value" value="{{value}}" maxlength="500" required autocomplete="off"></div>
<div class="flex-fill"><label class="form-label" for="legal_basis">Legal basis, such as GDPR Art. 17(1)(b)</label><input class="form-control" id="legal_basis" name="legal_basis" value="{{legal_basis}}" maxlength="500" required></div>
<button class="btn btn-outline-danger" name="act" value="ask">Erase …</button></form>{{/if}}`)

/** Asks by a form and not by an address: the id of a data subject belongs in no history. */
export const askErasure: Act = async (visit, form) => {
  visit.api.assertMay('post', '/api/v1/erasures')
  const { by, value, legal_basis } = typedIn(form)
  const touched = by === 'subject' ? subjectEffects(value) : await taskEffects(visit, value)
  const asked = {
    title: by === 'subject' ? `Erase the data of the subject ${value}?` : `Erase the task ${value}?`,
    effects: [
      ...touched,
      'The erased content cannot be restored. The log keeps commitments, which cannot be opened any more.',
      `The log and the audit trail state that you erased it, when, and the legal basis: ${legal_basis}`,
      'Copies elsewhere are not reached, such as backups, earlier bundles and the traces of local engines. The answer lists them.',
    ],
    act: 'erase',
    button: 'Erase the data',
    back: paths.retention(),
    fields: { by, value, legal_basis },
  }
  return settings(visit, 'retention', question(visit, asked))
}

function typedIn(form: Fields) {
  const typed = {
    by: field(form, 'by') === 'subject' ? ('subject' as const) : ('task' as const),
    value: field(form, 'value'),
    legal_basis: field(form, 'legal_basis').trim(),
  }
  if (typed.value.trim() === '')
    throw new PlatformError('INVALID', 'the id is missing: write that of a task or a subject')
  if (typed.legal_basis === '') throw new PlatformError('INVALID', 'the legal basis is missing: write one')
  return typed
}

function subjectEffects(subject: string): string[] {
  return [
    `The payload of every step whose \`properties.data.subject_id\` is ${subject} is erased, in all tasks.`,
    'Other steps of the same tasks are not touched: erase those by task.',
  ]
}

/** Rejects with NOT_FOUND for a task without entries, and with CONFLICT for one on hold. */
async function taskEffects({ api: { read } }: Visit, task_id: string): Promise<(string | Html)[]> {
  const [{ tasks, total }, holds] = await Promise.all([
    read('task-list', '/api/v1/logs/tasks', { q: task_id, limit: String(maxTasks) }),
    read('hold-list', '/api/v1/holds', { on: 'true', task_id, limit: '1' }),
  ])
  if (holds.total > 0) throw new PlatformError('CONFLICT', 'the task is on hold: release the hold first')
  const task = tasks.find((one) => one.task_id === task_id)
  if (task === undefined && total <= maxTasks) throw new PlatformError('NOT_FOUND', 'no such task')
  const steps = task === undefined ? 'the steps' : counted(task.step_count, 'step')
  return [effectsView({ steps: link(paths.task(task_id), steps) })]
}

/** Tasks whose ids begin with that of the task. */
const maxTasks = 100

const effectsView = piece(
  'The payloads of {{steps}} of the task and of its incidents are erased, and the step names in its violations.',
)

/** Shows the result once: the places that the erasure did not reach are the work of the person. */
export const eraseNow: Act = async (visit, form) => {
  const { by, value, legal_basis } = typedIn(form)
  const request = by === 'subject' ? { subject_id: value, legal_basis } : { task_id: value, legal_basis }
  const result = await visit.api.change('erasure-result', 'post', '/api/v1/erasures', request)
  const done = facts([
    ['Erasure', id(result.id)],
    ['Task', result.task_id === null ? null : id(result.task_id, paths.task(result.task_id))],
    ['Erased entries', text(number(result.entries))],
    ['Tasks', text(number(result.tasks))],
    ['Legal basis', text(result.legal_basis)],
  ])
  return settings(
    visit,
    'retention',
    card('The data is erased', doneView({ facts: done, places: result.not_reached, back: paths.retention() })),
  )
}

const doneView = piece(`{{facts}}<h3 class="h4 mt-3">Not reached by this erasure</h3><p>Check these places too:</p>
<ul>{{#each places}}<li>{{this}}</li>{{/each}}</ul><a class="btn btn-primary" href="{{back}}">Back to Retention</a>`)
