import { createRequire } from 'node:module'

/** Loads a package at its first use, synchronously, so that a start that does not use it does not wait for it. */
export const need = createRequire(import.meta.url)
