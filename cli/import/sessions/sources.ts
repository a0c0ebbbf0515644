// The files of an import of sessions: those of sub-agents are beside the file of a session that is imported alone.
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { placeOfLine } from '@svc/adapters/sessions'
import { UsageError } from '../../errors.js'
import { firstValueIn } from '../reading/document.js'
import type { FormatName } from '../reading/formats.js'
import { isSessionFormat } from '../reading/options.js'
import { baseName, type Source } from '../reading/source.js'

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

/** True for a file that an import of a folder reads: folders of agents have other files as well. */
function isTranscript(format: FormatName, path: string): boolean {
  return /\.jsonl$/i.test(path) || (format === 'codex' && /^rollout-.*\.json$/i.test(basename(path)))
}

/** The files with the sub-agents of the session in a file: in a folder of its name, and in older versions beside it. */
async function companionsOf(path: string): Promise<Source[]> {
  const session = baseName(path)
  const folder = dirname(path)
  if (isOfAgent(path)) return []
  const own = agentFilesIn(join(folder, session, 'subagents'), true)
  const beside: string[] = []
  for (const file of agentFilesIn(folder)) {
    const place = placeOfLine('claude-code', await firstValueIn(file))
    if (place?.session === session) beside.push(file)
  }
  return [...own, ...beside].map((file) => ({ path: file, name: file, run_id: baseName(file) }))
}

function isOfAgent(path: string): boolean {
  return /^agent-.*\.jsonl$/i.test(basename(path))
}

function agentFilesIn(folder: string, recursive = false): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return readdirSync(folder, { recursive, encoding: 'utf8' })
    .filter(isOfAgent)
    .sort()
    .map((name) => join(folder, name))
}
