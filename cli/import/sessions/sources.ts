// The files of an import of sessions.
import { statSync } from 'node:fs'
import { UsageError } from '../../errors.js'
import type { FormatName } from '../reading/formats.js'
import { isSessionFormat } from '../reading/options.js'
import type { Source } from '../reading/source.js'
import { companionsOf, isTranscript } from './companions.js'

/** The files that have transcripts; a session of Claude Code is read with the files of its sub-agents. */
export async function sourcesOf(
  format: FormatName,
  file: string,
  found: readonly Source[],
): Promise<readonly Source[]> {
  if (!isSessionFormat(format)) return found
  const isFolder = file !== '-' && statSync(file).isDirectory()
  if (isFolder) {
    const transcripts = found.filter(({ path }) => isTranscript(format, path))
    if (transcripts.length > 0) return transcripts
    throw new UsageError(`\`${file}\` has no file that ends in .jsonl`)
  }
  const [only] = found
  const isFile = file !== '-' && only?.path === file
  return isFile && format === 'claude-code' ? [...found, ...(await companionsOf(file))] : found
}
