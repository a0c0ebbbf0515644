/** How long a test waits for background work before it fails: a busy machine takes its time. */
export const soon = { timeout: 100_000, interval: 100 }

/**
 * Calls until it does not reject. A call in progress is never given up, unlike that of `vi.waitFor`: for calls that take long by
 * themselves. Rejects as the last call does.
 */
export async function untilDone<T>(call: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + soon.timeout; ; await new Promise((resolve) => setTimeout(resolve, soon.interval))) {
    try {
      return await call()
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}
