// The word FORMAT of `svc import`, and the command with the right one.
import { didYouMean, type FormatName, formatNames, formatOfRun } from '@svc/engine'
import { shellWord } from '../called-as.js'
import { defaultStart } from './default-start.js'
import type { ImportOptions } from './options.js'
import { createRunReader, isRun } from './runs.js'
import { withSources } from './source.js'
import { UsageError } from './usage-error.js'

/** How the import was called. */
export interface ImportCall {
  /** How `svc` was called. */
  readonly svc: string
  readonly file: string
  readonly options: ImportOptions
}

/** The format of that name. Rejects with UsageError and, if the file shows its format, the command to write. */
export async function formatNamed(name: string, call: ImportCall): Promise<FormatName> {
  const format = formatNames.find((known) => known === name)
  if (format !== undefined) return format
  const seen = await formatIn(call.file).catch(() => null)
  const hint =
    seen === null ? didYouMean(name, formatNames) : `; this looks like ${seen}:\n  ${commandWith(seen, call)}`
  throw new UsageError(`the format is \`${name}\`: write ${formatNames.join(' or ')}${hint}`)
}

/** The format of the first run in a file or folder; null when there is no run. */
async function formatIn(file: string): Promise<FormatName | null> {
  if (file === '-') return null
  return withSources(file, '', async (sources) => {
    const read = createRunReader('chat-completions', sources.length)
    for (const source of sources) {
      for await (const found of read(source)) {
        if (isRun(found)) return 'chat-completions'
        return found.value === undefined ? null : formatOfRun(found.value)
      }
    }
    return null
  })
}

/** The command as it was called, with a format and without the key. */
export function commandWith(format: FormatName, { svc, file, options }: ImportCall): string {
  const { agentKey, out, to, apiKey, tools, start, json } = options
  const given = Object.entries({ 'agent-key': agentKey, out, to, tools, start }).flatMap(([name, value]) =>
    value === undefined || value === defaultStart ? [] : [`--${name}`, shellWord(value)],
  )
  const key = apiKey === undefined ? [] : ['--api-key', 'SvcKey-…']
  const words = [svc, 'import', format, shellWord(file), ...given, ...key, ...(json ? ['--json'] : [])]
  return words.join(' ')
}
