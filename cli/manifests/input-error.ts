/** An input cannot be used; the message gives the reason and the correction. */
export class InputError extends Error {
  readonly code = 'INPUT'
}

/** The command line is invalid. */
export class UsageError extends Error {
  readonly code = 'USAGE'
}
