// The work of `svc docs`.
import type { Writable } from 'node:stream'
import { readManifestFiles, validateFiles } from '@svc/engine'
import { counted, manifestTable, type SourceFile, tableMarkdown } from '@svc/engine/parts'
import { namingCommands, shellWord } from '../../called-as.js'
import type { Terminal } from '../../terminal.js'
import { coloured } from '../colour.js'
import { findingLines, isFailure, linesOf } from '../findings-text.js'
import { checkPages, isFolderName, type Page, pagesIn, withMark, writePages } from './pages.js'

export interface DocsOptions {
  readonly out?: string
  readonly check?: true
  readonly json?: true
}

/** Returns the exit code. */
export async function runDocs(paths: readonly string[], options: DocsOptions, terminal: Terminal): Promise<number> {
  const { svc, stdout: out } = terminal
  const err = namingCommands(svc, terminal.stderr)
  const documents = documentsOf(await readManifestFiles(paths), (text) => err.write(coloured(terminal, text)))
  if (documents === null) return 1
  if (options.json === true) {
    const rows = documents.map(({ file, table }) => ({ file, ...table }))
    out.write(`${JSON.stringify({ manifests: rows }, null, 2)}\n`)
    return 0
  }
  const texts = documents.map(({ file, table }) => ({ file, text: tableMarkdown(table, file) }))
  if (options.out === undefined) {
    out.write(texts.map(({ text }) => text).join('\n'))
    return 0
  }
  const pages = (await isFolderName(options.out))
    ? pagesIn(options.out, texts)
    : [{ path: options.out, text: withMark(texts.map(({ text }) => text).join('\n')) }]
  return options.check === true
    ? report(await checkPages(pages, options.out), pages, 'current', err, out, [
        `write them with \`${svc} docs ${paths.map(shellWord).join(' ')} --out ${shellWord(options.out)}\``,
      ])
    : report(await writePages(pages), pages, 'written', err, out, [])
}

function documentsOf(files: readonly SourceFile[], complain: (text: string) => void) {
  const { manifests, findings } = validateFiles(files, { tests: 'if-present', now: Date.now() })
  if (isFailure(findings, false)) {
    const excerpts = linesOf(files)
    const lines = findings.flatMap((finding) => findingLines(finding, excerpts))
    complain(`${lines.join('\n')}\nsvc docs: nothing was written: correct the errors first\n`)
    return null
  }
  const names = namesOf(manifests.map(({ file }) => file))
  return manifests.flatMap(({ value, tests }, index) =>
    value === null ? [] : [{ file: names[index] ?? '', table: manifestTable(value, tests) }],
  )
}

/** The paths below the folder that all files share: a document does not depend on where the command ran. */
function namesOf(files: readonly string[]): string[] {
  const parts = files.map((file) => file.split('/'))
  const [first = []] = parts
  let shared = 0
  while (parts.every((one) => shared < one.length - 1 && one[shared] === first[shared])) shared++
  return parts.map((one) => one.slice(shared).join('/'))
}

function report(
  problems: readonly string[],
  pages: readonly Page[],
  done: string,
  err: Writable,
  out: Writable,
  remedy: readonly string[],
): number {
  if (problems.length === 0) {
    out.write(`${counted(pages.length, 'file')} ${done}\n`)
    return 0
  }
  err.write(`${[...problems, ...remedy].map((line) => `svc docs: ${line}`).join('\n')}\n`)
  return 1
}
