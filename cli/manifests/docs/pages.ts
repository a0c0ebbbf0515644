// The files of `svc docs`: written, or compared with what would be written. Files by other authors are not touched.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withoutYamlEnding } from '@svc/engine/parts'
import { printable } from '@svc/proof'

export interface Page {
  readonly path: string
  readonly text: string
}

/** The first line of every file that this command writes. */
const mark = '<!-- Written by `svc docs`: change the manifest instead. -->'

export function withMark(text: string): string {
  return `${mark}\n\n${text}`
}

/** True if a path means a folder: an existing one, or one that has no ending of a Markdown file. */
export async function isFolderName(path: string): Promise<boolean> {
  return !/\.(md|markdown)$/i.test(path) || (await stat(path).catch(() => null))?.isDirectory() === true
}

/** A page for each manifest, at its path in the folder; two manifests that differ in the ending keep it. */
export function pagesIn(folder: string, texts: readonly { readonly file: string; readonly text: string }[]): Page[] {
  const isAlone = (stem: string) => texts.filter(({ file }) => withoutYamlEnding(file) === stem).length === 1
  return texts.map(({ file, text }) => {
    const stem = withoutYamlEnding(file)
    return { path: join(folder, `${isAlone(stem) ? stem : file}.md`), text: withMark(text) }
  })
}

/** Writes all pages, or none when a file is not one of this command. Returns the problems. */
export async function writePages(pages: readonly Page[]): Promise<string[]> {
  const before = await Promise.all(pages.map(({ path }) => textOf(path)))
  const others = pages.filter((_, index) => before[index] !== null && !isOurs(before[index] ?? ''))
  if (others.length > 0)
    return others.map(({ path }) => `${shown(path)} was not written by this command: remove it, or name another file`)
  try {
    for (const { path, text } of pages) {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
    return []
  } catch (error) {
    const { code, path = '' } = error as NodeJS.ErrnoException
    return [`${shown(path)} cannot be written (${code ?? 'unknown error'})`]
  }
}

/** The files that are not current: missing and changed files, and in a folder those of manifests that no longer exist. */
export async function checkPages(pages: readonly Page[], out: string): Promise<string[]> {
  const texts = await Promise.all(pages.map(({ path }) => textOf(path)))
  const stale = pages.flatMap(({ path, text }, index) => {
    if (texts[index] === text) return []
    return [`${shown(path)} ${texts[index] === null ? 'does not exist' : 'is not current'}`]
  })
  return [...stale, ...(await leftOver(pages, out))]
}

async function leftOver(pages: readonly Page[], out: string): Promise<string[]> {
  if (!(await isFolderName(out))) return []
  const names = await readdir(out, { recursive: true }).catch(() => [])
  const known = new Set(pages.map(({ path }) => path))
  const others = names.map((name) => join(out, name)).filter((path) => path.endsWith('.md') && !known.has(path))
  const ours = await Promise.all(others.map(async (path) => isOurs((await textOf(path)) ?? '')))
  return others.filter((_, index) => ours[index]).map((path) => `${shown(path)} is of no manifest: remove it`)
}

function isOurs(text: string): boolean {
  return text.startsWith(mark)
}

/** Null when there is no such file. */
function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}

function shown(path: string): string {
  return `\`${printable(path)}\``
}
