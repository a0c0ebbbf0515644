// Errors of commands.

/** A file or an option cannot be used; each line of the message is a reason with its correction. */
export class InputError extends Error {
  readonly code = 'INPUT'
}

/** The command line is invalid. */
export class UsageError extends Error {
  readonly code = 'USAGE'
}
