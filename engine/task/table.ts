// Keeps running tasks: the most recently used ones, limited in number, age and size.

export interface TableBounds {
  readonly maxTasks: number
  /** Tasks among them that have ended. */
  readonly maxEnded?: number
  /** The time for which an idle task is kept, ms. */
  readonly maxIdleMs?: number
  /** Words of all histories together, beyond which tasks are evicted that have been idle for `minIdleMs`. */
  readonly maxWords?: number
  /** A task in use would be read back at its next step, and again at the one after that. */
  readonly minIdleMs?: number
}

interface Entry<T> {
  readonly task: T
  touched_at: number
  words: number
}

export class TaskTable<T> {
  readonly #bounds: Required<TableBounds>
  readonly #onEvict: (id: string, task: T) => void
  /** The least recently used task is first. */
  readonly #running = new Map<string, Entry<T>>()
  /** The same of those that have ended, which are evicted first. */
  readonly #ended = new Map<string, Entry<T>>()
  #words = 0

  constructor(bounds: TableBounds, onEvict: (id: string, task: T) => void = () => undefined) {
    const infinite = Number.POSITIVE_INFINITY
    this.#bounds = { maxEnded: infinite, maxIdleMs: infinite, maxWords: infinite, minIdleMs: 0, ...bounds }
    this.#onEvict = onEvict
  }

  /** Tasks that have not ended. */
  get running(): number {
    return this.#running.size
  }

  get(id: string): T | undefined {
    return this.#entry(id)?.task
  }

  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  /** Keeps the task as the most recently used one, and evicts others. `now`: ms on a clock that never jumps. */
  keep(id: string, task: T, now = 0): void {
    const known = this.#entry(id)
    const entry = known?.task === task ? known : { task, touched_at: now, words: 0 }
    entry.touched_at = now
    this.#forget(id)
    this.#makeRoom(now)
    this.#running.set(id, entry)
    this.#words += entry.words
  }

  /** The task has ended: it is evicted before others, and runs again with the next `keep`. */
  end(id: string): void {
    const entry = this.#running.get(id)
    if (entry === undefined) return
    this.#running.delete(id)
    this.#ended.set(id, entry)
    const [oldest] = this.#ended
    if (this.#ended.size > this.#bounds.maxEnded && oldest !== undefined) this.#evict(oldest[0], oldest[1])
  }

  /** Counts the words of a task whose history has changed. */
  weigh(id: string, words: number): void {
    const entry = this.#entry(id)
    if (entry === undefined) return
    this.#words += words - entry.words
    entry.words = words
  }

  delete(id: string): void {
    this.#forget(id)
  }

  #entry(id: string): Entry<T> | undefined {
    return this.#running.get(id) ?? this.#ended.get(id)
  }

  #forget(id: string): void {
    this.#words -= this.#entry(id)?.words ?? 0
    if (!this.#running.delete(id)) this.#ended.delete(id)
  }

  #makeRoom(now: number): void {
    const { maxTasks, maxIdleMs, maxWords, minIdleMs } = this.#bounds
    for (const tasks of [this.#ended, this.#running])
      for (const [id, entry] of tasks) {
        const idle_ms = now - entry.touched_at
        const is_too_large = this.#words > maxWords && idle_ms > minIdleMs
        if (this.#running.size + this.#ended.size < maxTasks && idle_ms <= maxIdleMs && !is_too_large) break
        this.#evict(id, entry)
      }
  }

  #evict(id: string, { task }: Entry<T>): void {
    this.#forget(id)
    this.#onEvict(id, task)
  }
}
