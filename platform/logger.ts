// The log lines of this process.
import { type Logger, pino } from 'pino'

export function createLogger(level: string): Logger {
  return pino({ level, serializers: { err: errorView } })
}

/** An error as it is logged: the details that the database adds quote values of rows, and are left out. */
function errorView(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, code: (error as { code?: unknown }).code, message, stack }
}
