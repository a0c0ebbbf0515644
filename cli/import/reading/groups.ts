// Brings together what belongs to one task, wherever it is in the files.

/**
 * The first reading notes where each task is, and the second one keeps the items of a task until its last place. In memory
 * are, for each task, its name and a number; and the items of tasks that overlap in the files, never of all tasks.
 */
export interface Groups<Item> {
  /** First reading: an item of the task is at the position. */
  readonly note: (task: string, position: number) => void
  /** Second reading: keeps an item of the task. */
  readonly add: (task: string, item: Item) => void
  /** The tasks whose last item is at the position, in the order of their first item; they are no longer kept. */
  readonly complete: (position: number) => readonly (readonly [task: string, items: readonly Item[]])[]
}

export function createGroups<Item>(): Groups<Item> {
  const last = new Map<string, number>()
  const open = new Map<string, Item[]>()
  /** Tasks with an item at the current position. */
  const touched = new Set<string>()
  return {
    note: (task, position) => {
      last.set(task, Math.max(position, last.get(task) ?? 0))
    },
    add: (task, item) => {
      touched.add(task)
      const items = open.get(task)
      if (items === undefined) open.set(task, [item])
      else items.push(item)
    },
    complete: (position) => {
      const done = [...touched].filter((task) => last.get(task) === position)
      touched.clear()
      return done.map((task) => {
        const items = open.get(task) ?? []
        open.delete(task)
        return [task, items] as const
      })
    },
  }
}
