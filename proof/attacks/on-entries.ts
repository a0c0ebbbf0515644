// Attacks on what was logged: entries changed, removed, added or moved by somebody who can write to the database.
import type { LogRecord } from '@svc/schemas'
import { noCheckpoint, recordText } from '../record/record.js'
import type { Attack } from './attack.js'
import { entryOf, type Item } from './store.js'
import type { World } from './world.js'

const byChain = { chain: 'found', checkpoints: 'found', witness: 'found' } as const
const byCheckpoint = { chain: 'not found', checkpoints: 'found', witness: 'found' } as const
const byWitness = { chain: 'not found', checkpoints: 'not found', witness: 'found' } as const
const database = 'the database'

/** The fourth step of the first task: a deletion. */
const deletion = 3
/** Where the second task has begun. */
const secondTask = 8

export const onEntries: readonly Attack[] = [
  {
    name: 'edit',
    what: 'the record of a deletion is made to say that it was a read',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      store.entries = store.entries.map((entry, at) =>
        at === deletion ? { ...entry, record: entry.record.replace('step.resource', 'step.model') } : entry,
      )
    },
  },
  {
    name: 'edit and re-hash',
    what: 'the same, and every hash after it, every column and the head of the task are made to fit',
    with: database,
    expected: byCheckpoint,
    act: (world) => editedAt(world, deletion),
  },
  {
    name: 'edit before it is signed for',
    what: 'the same within the seconds before the next checkpoint: only whoever sent the step has its hash',
    with: database,
    expected: { chain: 'not found', checkpoints: 'not found', witness: 'not found' },
    act: (world) => {
      world.step('task-4', 'START_NODE', { step_name: 'support request' })
      world.step('task-4', 'step.tool', { verb: 'GET', step_name: 'read_customer' })
      editedAt(world, world.items.length - 1)
    },
  },
  {
    name: 'delete in the middle',
    what: 'the deletion is taken out of its task',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      store.entries = store.entries.filter((_, at) => at !== deletion)
      store.payloads.delete(deletion)
    },
  },
  {
    name: 'delete and re-number',
    what: 'the same, and everything after it moves up, with new hashes',
    with: database,
    expected: byCheckpoint,
    act: (world) =>
      fitted(
        world,
        world.items.filter((_, at) => at !== deletion),
      ),
  },
  {
    name: 'cut the tail',
    what: 'the last step of the last task is forgotten, and its head says so',
    with: database,
    expected: byCheckpoint,
    act: (world) => world.rewrite(world.items.slice(0, -1)),
  },
  {
    name: 'delete a task',
    what: 'every row of a task is removed',
    with: database,
    expected: byCheckpoint,
    act: (world) =>
      fitted(
        world,
        world.items.filter(({ record }) => taskOf(record) !== 'task-1'),
      ),
  },
  {
    name: 'insert in the past',
    what: 'an approval that never was is put before the deletion',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      const [before, approval, after] = [
        world.items.slice(0, deletion),
        world.items[2] as Item,
        world.items.slice(deletion),
      ]
      fitted(world, [...before, approval, ...after])
    },
  },
  {
    name: 'back-date',
    what: 'a new entry is given an hour of arrival from before the entries it follows',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      world.step('task-4', 'START_NODE', { step_name: 'support request' })
      const last = world.items.at(-1) as Item
      const received_at = world.items[1]?.record.received_at ?? ''
      world.rewrite([...world.items.slice(0, -1), { ...last, record: { ...last.record, received_at } }])
    },
  },
  {
    name: 'reorder',
    what: 'a deletion and the approval it needed change places',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      const moved = [...world.items]
      ;[moved[2], moved[deletion]] = [world.items[deletion] as Item, world.items[2] as Item]
      fitted(world, moved)
    },
  },
  {
    name: 'move between tasks',
    what: 'the deletion is made a step of another task',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      const [moved, others] = [world.items[deletion] as Item, world.items.filter((_, at) => at !== deletion)]
      const record = { ...moved.record, task_id: 'task-2' } as LogRecord
      fitted(world, others.toSpliced(secondTask, 0, { ...moved, record }))
    },
  },
  {
    name: 'move between tenants',
    what: "a task of another organization is shown as this one's",
    with: database,
    expected: byChain,
    act: ({ store }) => {
      const [first] = store.entries
      const record = { ...JSON.parse(first?.record ?? ''), org_id: 'org_9f8e7d' } as LogRecord
      const foreign = entryOf(record, recordText(record), 0, first?.occurred_at ?? '')
      store.entries = store.entries.map((entry, at) => (at === 0 ? foreign : entry))
    },
  },
  {
    name: 'replay',
    what: 'a recorded step is appended to its task once more',
    with: database,
    expected: byChain,
    act: (world) => {
      const again = { ...(world.items[deletion] as Item).record, received_at: world.now() }
      world.rewrite([...world.items, { ...(world.items[deletion] as Item), record: again }])
    },
  },
  {
    name: 'restore an old backup',
    what: 'the database is put back to how it was an hour ago, and goes on from there',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      world.checkpoints = world.checkpoints.slice(0, 1)
      world.rewrite(world.items.slice(0, world.latest.size))
      world.step('task-9', 'START_NODE', { step_name: 'support request' })
    },
  },
  {
    name: 'launder by a restart',
    what: 'every step is rewritten and every checkpoint deleted, and the log is restarted as after a restore',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      const all = world.items.map((item) => ({ ...item, record: { ...item.record, ...external(item.record) } }) as Item)
      world.checkpoints = []
      fitted(world, all)
      world.restart()
    },
  },
  {
    name: 're-sign what was seen',
    what: 'with a stolen key: an entry the auditor has seen is edited, and all of it signed for anew',
    with: 'the database and the key',
    expected: byCheckpoint,
    act: (world) => {
      editedAt(world, deletion)
      resigned(world, 0)
    },
  },
  {
    name: 're-sign what nobody saw',
    what: 'with a stolen key: an entry since the last bundle is edited, and signed for anew',
    with: 'the database and the key',
    expected: byWitness,
    act: (world) => {
      editedAt(world, world.items.length - 2)
      resigned(world, world.items.length - 1)
    },
  },
  {
    name: 'fork',
    what: 'with a stolen key: a second log goes on from where the auditor last looked, and is shown to nobody else',
    with: 'the database and the key',
    expected: byWitness,
    act: (world) => {
      const kept = world.checkpoints[1]?.size ?? 0
      world.checkpoints = world.checkpoints.slice(0, 2)
      world.rewrite(world.items.slice(0, kept))
      world.step('task-9', 'START_NODE', { step_name: 'support request' })
      world.sign()
    },
  },
]

function external({ type }: Item['record']): Partial<LogRecord> {
  return type === 'step' ? { is_external_call: true } : {}
}

function editedAt(world: World, place: number): void {
  const edited = world.items.map((item, at) =>
    at === place ? { ...item, record: { ...item.record, step_type: 'step.model' } as LogRecord } : item,
  )
  world.rewrite(edited)
}

/** Signs anew for every size beyond this that was signed for, so that no record names a checkpoint which never was. */
function resigned(world: World, most: number): void {
  const sizes = world.checkpoints.map(({ size }) => size).filter((size) => size > most)
  world.checkpoints = world.checkpoints.filter(({ size }) => size <= most)
  for (const size of sizes) {
    world.sign(size)
    fitted(world, world.items)
  }
}

/** Stores these items with the step numbers and the earlier checkpoints they would have had. */
function fitted(world: World, items: readonly Item[]): void {
  const steps = new Map<string, number>()
  const places = items.map((item, index) => {
    const earlier = world.checkpoints.findLast(({ size }) => size <= index)
    const after = earlier === undefined ? noCheckpoint : { size: earlier.size, root: earlier.root }
    const task_id = taskOf(item.record)
    const step = (steps.get(task_id ?? '') ?? 0) + 1
    steps.set(task_id ?? '', step)
    const record = { ...item.record, after, ...(task_id !== null && { step }) } as Item['record']
    return { ...item, record }
  })
  world.rewrite(places)
}

function taskOf(record: Item['record']): string | null {
  return record.type === 'step' ? record.task_id : null
}
