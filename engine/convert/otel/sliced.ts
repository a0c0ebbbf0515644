// Work that can be interrupted: it yields between two of its parts, so that its caller can do something else in the meantime.

export type Sliced<T> = Generator<void, T, void>

/** The result of work that is not interrupted. */
export function wholeOf<T>(work: Sliced<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
