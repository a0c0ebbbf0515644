// The request to stop a program: a signal, or the end of the shell through which npm runs it.

/** The longest time that the program outlives its shell, ms. */
const checkIntervalMs = 500

/**
 * Resolves at SIGTERM and SIGINT. npm and npx pass signals only to the shell that they start, so that a program which they run would
 * continue without its caller, with its port and its database: there the end of that shell counts as a signal.
 */
export function untilStopped({ npm_execpath }: Readonly<Record<string, string | undefined>>): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
    if (npm_execpath === undefined) return
    const shell = process.ppid
    const timer = setInterval(() => {
      if (process.ppid === shell) return
      clearInterval(timer)
      resolve()
    }, checkIntervalMs)
    timer.unref()
  })
}
