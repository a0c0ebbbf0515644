/** How long a test waits for background work before it fails: a busy machine takes its time. */
export const soon = { timeout: 100_000, interval: 100 }
