// The lists of all holds and of all erasures.

import type { Erasure, Hold } from '@svc/schemas'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { decidersOf } from '../../people.js'
import { badge, id, joined, number, piece, text, time } from '../../views/html.js'
import { tabs } from './settings.js'

const back = piece('<p><a href="{{href}}">Retention, holds and erasures</a></p>')

const holds: Listing<Hold> = {
  place: 'settings',
  title: 'Holds',
  path: '/settings/holds',
  schema: 'hold-list',
  rows: 'holds',
  endpoint: '/api/v1/holds',
  above: async (visit) => joined([tabs(visit, 'retention'), back({ href: paths.retention() })]),
  filters: [{ kind: 'text', name: 'task_id', label: 'Task' }],
  presets: [
    ['Active', { on: 'true' }],
    ['Released', { on: 'false' }],
  ],
  columns: async (visit) => {
    const nameOf = await decidersOf(visit)
    return [
      { head: 'Holds', cell: ({ task_id }) => heldBy(task_id) },
      {
        head: 'State',
        cell: ({ released_at }) => (released_at === null ? badge('active', 'orange') : badge('released')),
      },
      { head: 'Reason', cell: ({ reason }) => text(reason) },
      { head: 'Placed', cell: ({ placed_at }) => time(placed_at) },
      { head: 'By', cell: ({ placed_by }) => nameOf(placed_by) },
      { head: 'Released', cell: ({ released_at }) => time(released_at) },
      { head: 'By', cell: ({ released_by }) => nameOf(released_by) },
    ]
  },
  empty: 'No hold was placed yet. Place one on the page Retention.',
}

/** The task of a hold; all entries without one. */
export function heldBy(task_id: string | null) {
  return task_id === null ? text('all entries') : id(task_id, paths.task(task_id))
}

const erasures: Listing<Erasure> = {
  place: 'settings',
  title: 'Erasures',
  path: '/settings/erasures',
  schema: 'erasure-list',
  rows: 'erasures',
  endpoint: '/api/v1/erasures',
  above: async (visit) => joined([tabs(visit, 'retention'), back({ href: paths.retention() })]),
  filters: [{ kind: 'text', name: 'task_id', label: 'Task' }],
  columns: async (visit) => {
    const nameOf = await decidersOf(visit)
    return [
      { head: 'Time', cell: ({ erased_at }) => time(erased_at) },
      { head: 'Erased', cell: ({ task_id }) => erasedText(task_id) },
      { head: 'Entries', cell: ({ entries }) => text(number(entries)), numeric: true },
      { head: 'Tasks', cell: ({ tasks }) => text(number(tasks)), numeric: true },
      { head: 'Legal basis', cell: ({ legal_basis }) => text(legal_basis) },
      { head: 'By', cell: ({ erased_by }) => nameOf(erased_by) },
      { head: 'Erasure', cell: ({ id: erasure }) => id(erasure) },
    ]
  },
  empty: 'Nothing was erased yet. Erasures of tasks and data subjects begin on the page Retention.',
}

/** The task of an erasure; an erasure by subject names none. */
export function erasedText(task_id: string | null) {
  return task_id === null ? text('a data subject, not named') : id(task_id, paths.task(task_id))
}

export const holdsPage = listPage(holds)
export const erasuresPage = listPage(erasures)
