/** The action cannot do what its inputs ask for; the message gives the reason and the correction. */
export class UsageError extends Error {
  readonly code = 'USAGE'
}
