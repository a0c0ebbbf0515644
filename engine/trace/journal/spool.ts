// What a sender needs of the queue that it empties.

export interface Spool {
  /** Adds a line of JSON; false when the queue is full. */
  readonly add: (text: string) => boolean
  /** The oldest lines: at most `count`, and of at most `max_bytes` together, but at least one. Rejects when the disk cannot be read. */
  readonly first: (count: number, max_bytes: number) => Promise<readonly Buffer[]>
  /** The oldest line once it was read; null before. */
  readonly oldest: () => Buffer | null
  /** Removes the oldest lines, which `first` has returned. */
  readonly remove: (count: number) => void
  /** Lines. */
  readonly size: () => number
  /** True when the lines outlive the process: they are on disk. */
  readonly isDurable: () => boolean
  /** Writes it to disk and releases its folder. */
  readonly close: () => Promise<void>
}
