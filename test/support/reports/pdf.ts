// What the tools of poppler read of a PDF.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** False where poppler is not installed; the tests that need it are skipped with this message. */
export const hasPoppler = spawnSync('pdfinfo', ['-v']).error === undefined
export const popplerMissing = 'poppler (pdfinfo, pdffonts, pdfdetach, pdftotext) is not installed'

/** Runs `command` with the path of the file in the place of `FILE`. */
export function read(bytes: Uint8Array, command: string, ...options: readonly string[]): string {
  return inFolder(bytes, (file) =>
    execFileSync(
      command,
      options.map((option) => (option === 'FILE' ? file : option)),
      { encoding: 'utf8', maxBuffer: 1 << 28 },
    ),
  )
}

export const textOf = (bytes: Uint8Array, ...options: readonly string[]): string =>
  read(bytes, 'pdftotext', ...options, 'FILE', '-')

/** The text of each page. */
export const pagesOf = (bytes: Uint8Array): string[] => textOf(bytes, '-layout').split('\f').slice(0, -1)

/** The bytes of the first attachment. */
export function attachmentOf(bytes: Uint8Array): Buffer {
  return inFolder(bytes, (file) => {
    const out = `${file}.attachment`
    execFileSync('pdfdetach', ['-save', '1', '-o', out, file])
    return readFileSync(out)
  })
}

function inFolder<T>(bytes: Uint8Array, run: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pdf-'))
  try {
    const file = join(folder, 'report.pdf')
    writeFileSync(file, bytes)
    return run(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
