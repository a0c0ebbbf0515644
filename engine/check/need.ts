import { createRequire } from 'node:module'

/** Loads a package at its first use, synchronously, so that only a start that needs it waits for it. */
export const need = createRequire(import.meta.url)
