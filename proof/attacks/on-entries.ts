// Attacks on the entries: an attacker with write access to the database changes, removes, adds or moves them.
import type { LogRecord } from '@svc/schemas'
import { parseJson } from '../json/parse-json.js'
import { noCheckpoint, recordText } from '../record/record.js'
import { type Attack, byChain, byCheckpoint } from './attack.js'
import { entryOf, type Item } from './store.js'
import type { World } from './world.js'

const byWitness = { chain: 'not found', checkpoints: 'not found', witness: 'found' } as const
const database = 'the database'

/** The fourth step of the first task: a deletion. */
const deletion = 3
/** A log index inside the second task. */
const secondTask = 8

export const onEntries: readonly Attack[] = [
  {
    name: 'edit',
    description: 'the record of a deletion becomes that of a read',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      store.entries = store.entries.map((entry, at) =>
        at === deletion ? { ...entry, record: entry.record.replace('step.resource', 'step.model') } : entry,
      )
    },
  },
  {
    name: 'edit and re-hash',
    description: 'the same, and every later hash, every column and the head of the task are recomputed',
    access: database,
    expected: byCheckpoint,
    run: (world) => editedAt(world, deletion),
  },
  {
    name: 'edit before it is signed',
    description: 'the same in the seconds before the next checkpoint, when only the sender of the step has its hash',
    access: database,
    expected: { chain: 'not found', checkpoints: 'not found', witness: 'not found' },
    run: (world) => {
      world.step('task-4', 'START_NODE', { step_name: 'support request' })
      world.step('task-4', 'step.tool', { verb: 'GET', step_name: 'read_customer' })
      editedAt(world, world.items.length - 1)
    },
  },
  {
    name: 'delete in the middle',
    description: 'the deletion is removed from its task',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      store.entries = store.entries.filter((_, at) => at !== deletion)
      store.payloads.delete(deletion)
    },
  },
  {
    name: 'delete and re-number',
    description: 'the same, and all later entries move up, with new hashes',
    access: database,
    expected: byCheckpoint,
    run: (world) =>
      fitted(
        world,
        world.items.filter((_, at) => at !== deletion),
      ),
  },
  {
    name: 'cut the tail',
    description: 'the last step of the last task is removed, and its head is recomputed',
    access: database,
    expected: byCheckpoint,
    run: (world) => world.rewrite(world.items.slice(0, -1)),
  },
  {
    name: 'delete a task',
    description: 'every row of a task is removed',
    access: database,
    expected: byCheckpoint,
    run: (world) =>
      fitted(
        world,
        world.items.filter(({ record }) => taskOf(record) !== 'task-1'),
      ),
  },
  {
    name: 'insert in the past',
    description: 'an approval that never happened is inserted before the deletion',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      const [before, approval, after] = [world.items.slice(0, deletion), itemAt(world, 2), world.items.slice(deletion)]
      fitted(world, [...before, approval, ...after])
    },
  },
  {
    name: 'back-date',
    description: 'a new entry gets an earlier time of arrival than the entries before it',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      world.step('task-4', 'START_NODE', { step_name: 'support request' })
      const last = itemAt(world, world.items.length - 1)
      const received_at = world.items[1]?.record.received_at ?? ''
      world.rewrite([...world.items.slice(0, -1), { ...last, record: { ...last.record, received_at } }])
    },
  },
  {
    name: 'reorder',
    description: 'a deletion and its required approval are exchanged',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      const moved = [...world.items]
      ;[moved[2], moved[deletion]] = [itemAt(world, deletion), itemAt(world, 2)]
      fitted(world, moved)
    },
  },
  {
    name: 'move between tasks',
    description: 'the deletion becomes a step of another task',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      const [moved, others] = [itemAt(world, deletion), world.items.filter((_, at) => at !== deletion)]
      const record = { ...moved.record, task_id: 'task-2' } as LogRecord
      fitted(world, others.toSpliced(secondTask, 0, { ...moved, record }))
    },
  },
  {
    name: 'move between tenants',
    description: 'an entry of another organization is stored as one of this organization',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      const [first] = store.entries
      const record = { ...(parseJson(first?.record ?? '') as LogRecord), org_id: 'org_9f8e7d' }
      const foreign = entryOf(record, recordText(record), 0, first?.occurred_at ?? '')
      store.entries = store.entries.map((entry, at) => (at === 0 ? foreign : entry))
    },
  },
  {
    name: 'replay',
    description: 'a recorded step is appended to its task again',
    access: database,
    expected: byChain,
    run: (world) => {
      const again = { ...itemAt(world, deletion).record, received_at: world.now() }
      world.rewrite([...world.items, { ...itemAt(world, deletion), record: again }])
    },
  },
  {
    name: 'restore an old backup',
    description: 'the database is restored from an hour ago and continues from there',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      world.checkpoints = world.checkpoints.slice(0, 1)
      world.rewrite(world.items.slice(0, world.latest.size))
      world.step('task-9', 'START_NODE', { step_name: 'support request' })
    },
  },
  {
    name: 'launder by a restart',
    description: 'every step is rewritten, every checkpoint is deleted, and the log is restarted as after a restore',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      const all = world.items.map((item) => ({ ...item, record: { ...item.record, ...external(item.record) } }) as Item)
      world.checkpoints = []
      fitted(world, all)
      world.restart()
    },
  },
  {
    name: 're-sign audited entries',
    description: 'with a stolen key, an entry from before the last bundle is edited, and the log is signed again',
    access: 'the database and the key',
    expected: byCheckpoint,
    run: (world) => {
      editedAt(world, deletion)
      resigned(world, 0)
    },
  },
  {
    name: 're-sign new entries',
    description: 'with a stolen key, an entry from after the last bundle is edited, and the log is signed again',
    access: 'the database and the key',
    expected: byWitness,
    run: (world) => {
      editedAt(world, world.items.length - 2)
      resigned(world, world.items.length - 1)
    },
  },
  {
    name: 'fork',
    description: 'with a stolen key, a second log continues from the last bundle, and only this auditor gets it',
    access: 'the database and the key',
    expected: byWitness,
    run: (world) => {
      const kept = world.checkpoints[1]?.size ?? 0
      world.checkpoints = world.checkpoints.slice(0, 2)
      world.rewrite(world.items.slice(0, kept))
      world.step('task-9', 'START_NODE', { step_name: 'support request' })
      world.sign()
    },
  },
]

function itemAt({ items }: World, log_index: number): Item {
  const item = items[log_index]
  if (item === undefined) throw new RangeError(`the log has no entry ${log_index}`)
  return item
}

function external({ type }: Item['record']): Partial<LogRecord> {
  return type === 'step' ? { is_external_call: true } : {}
}

function editedAt(world: World, log_index: number): void {
  const edited = world.items.map((item, at) =>
    at === log_index ? { ...item, record: { ...item.record, step_type: 'step.model' } as LogRecord } : item,
  )
  world.rewrite(edited)
}

/** Signs every checkpoint beyond the size again, so that each record names a published checkpoint. */
function resigned(world: World, keptSize: number): void {
  const sizes = world.checkpoints.map(({ size }) => size).filter((size) => size > keptSize)
  world.checkpoints = world.checkpoints.filter(({ size }) => size <= keptSize)
  for (const size of sizes) {
    world.sign(size)
    fitted(world, world.items)
  }
}

/** Stores these items with the step numbers and the earlier checkpoints that the platform would give them. */
function fitted(world: World, items: readonly Item[]): void {
  const steps = new Map<string, number>()
  const fittedItems = items.map((item, index) => {
    const earlier = world.checkpoints.findLast(({ size }) => size <= index)
    const after = earlier === undefined ? noCheckpoint : { size: earlier.size, root: earlier.root }
    const task_id = taskOf(item.record)
    const step = (steps.get(task_id ?? '') ?? 0) + 1
    steps.set(task_id ?? '', step)
    const record = { ...item.record, after, ...(task_id !== null && { step }) } as Item['record']
    return { ...item, record }
  })
  world.rewrite(fittedItems)
}

function taskOf(record: Item['record']): string | null {
  return record.type === 'step' ? record.task_id : null
}
