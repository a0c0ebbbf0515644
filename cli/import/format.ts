// The word FORMAT of `svc import`, and the command with the right one.
import { didYouMean } from '@svc/engine/parts'
import { shellWord } from '../called-as.js'
import { UsageError } from '../errors.js'
import type { Terminal } from '../terminal.js'
import { defaultStart } from './reading/default-start.js'
import { firstValueIn } from './reading/document.js'
import { type FormatName, formatNames, formatOf } from './reading/formats.js'
import { type ImportOptions, isSessionFormat } from './reading/options.js'
import { withSources } from './reading/source.js'
import { listed } from './reading/words.js'

/** The call of the import. */
export interface ImportCall {
  readonly terminal: Terminal
  readonly file: string
  readonly options: ImportOptions
}

/** The format of that name. Rejects with UsageError and, if the file shows its format, the command to write. */
export async function formatNamed(name: string, call: ImportCall): Promise<FormatName> {
  const format = formatNames.find((known) => known === name)
  if (format !== undefined) return format
  const seen = await formatIn(call).catch(() => null)
  const hint =
    seen === null ? didYouMean(name, formatNames) : `; this looks like ${seen}:\n  ${commandWith(seen, call)}`
  throw new UsageError(`the format is \`${name}\`: write ${listed(formatNames, 'or')}${hint}`)
}

/** The format of the first value in a file or folder; null when it is in none. */
async function formatIn({ file, terminal }: ImportCall): Promise<FormatName | null> {
  if (file === '-') return null
  return withSources({ file, name: '', stdin: terminal.stdin }, async (sources) => {
    for (const source of sources) {
      const value = await firstValueIn(source.path)
      const format = value === undefined ? null : formatOf(value)
      if (format !== null) return format
    }
    return null
  })
}

/** The command as it was called, with a format and without the key. */
export function commandWith(format: FormatName, { terminal, file, options }: ImportCall): string {
  const { agentKey, out, to, apiKey, json } = options
  const others = optionsOf(format, options)
  const given = Object.entries({ 'agent-key': agentKey, out, to, ...others }).flatMap(([name, value]) =>
    value === undefined || value === defaultStart ? [] : [`--${name}`, shellWord(value)],
  )
  const key = apiKey === undefined ? [] : ['--api-key', 'SvcKey-…']
  const words = [terminal.svc, 'import', format, shellWord(file), ...given, ...key, ...(json ? ['--json'] : [])]
  return words.join(' ')
}

/** The options that only some formats have. */
function optionsOf(format: FormatName, { tools, start, taskBy }: ImportOptions) {
  if (format === 'trace') return {}
  if (isSessionFormat(format)) return { tools }
  return format === 'otel' ? { tools, 'task-by': taskBy } : { tools, start }
}
