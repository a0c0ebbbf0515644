// The folders with keys of an install. A user who can replace a file in them can sign and decrypt as this platform.
import { sharedFolderProblem } from '@svc/engine/parts'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

/** Throws CONFLICT, with the command that mends it, when other users can write in a folder of keys. */
export function assertPrivateFolders({ data_dir, log_key_dir }: Pick<Config, 'data_dir' | 'log_key_dir'>): void {
  for (const folder of [data_dir, log_key_dir]) {
    const problem = sharedFolderProblem(folder)
    if (problem !== null) throw new PlatformError('CONFLICT', problem)
  }
}
