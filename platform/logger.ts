// The log lines of this process.
import { type Logger, pino } from 'pino'

export function createLogger(level: string): Logger {
  return pino({ level, serializers: { err: errorView } })
}

/** An error as it is logged, without the details of the database, which quote values of rows. */
function errorView(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, code: (error as { code?: unknown }).code, message, stack }
}
