// The commit of this build, which scripts/build.js writes beside it.
import { fileURLToPath } from 'node:url'
import { readIfThere } from '@svc/engine/parts'

/** Null for a build outside of a Git repository. */
export function builtCommit(): string | null {
  const build = import.meta.url.includes('/dist/') ? './' : './dist/'
  return readIfThere(fileURLToPath(new URL(`${build}commit`, import.meta.url)))?.trim() ?? null
}
