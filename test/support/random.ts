// How often a random test runs.
import { inject } from 'vitest'

/** All runs at night, which has these files too (vitest.config.ts); elsewhere `few`, by default a tenth. */
export function runs(all: number, few: number = Math.ceil(all / 10)): number {
  return inject('project') === 'night' ? all : few
}
