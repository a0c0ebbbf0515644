// The documents hold together: what they and the code cite exists, what they list is complete.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { variables } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Files of the repository whose names end so, relative to its root. */
function filesEnding(ending: RegExp, folder = '.'): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(node_modules|dist|data|\.git)$/.test(entry.name) ? [] : filesEnding(ending, path)
    return entry.isFile() && ending.test(entry.name) ? [path] : []
  })
}

const documents = filesEnding(/\.md$/)
const texts = [...documents, ...filesEnding(/\.(ts|js|mjs|py|ya?ml|json)$/)]
  .filter((path) => !/(^|\/)(package-lock\.json|svc-verify\.mjs)$/.test(path))
  .map((path) => ({ path, text: read(path) }))
const pages = texts.filter(({ path }) => path.endsWith('.md'))

/** The text of section `## N. Title`; undefined where the document has none. */
function sectionOf(document: string, number: string): string | undefined {
  return read(document)
    .split(/^## /m)
    .find((section) => section.startsWith(`${number}. `))
}

/** A page without the labels of its links, or the comments of a source file. */
function proseOf(path: string, text: string): string {
  if (path.endsWith('.md')) return text.replaceAll(/\[[^\]]*\]\(/g, '(')
  return text
    .split('\n')
    .filter((line) => /^\s*(\/\/|\/?\*|#)/.test(line))
    .join('\n')
}

describe('a citation', () => {
  const citation = /([\w./-]*[\w-]\.md)\)? §(\d+)((?:, §?\d+)*)/g
  const cited = texts.flatMap(({ path, text }) =>
    [...text.matchAll(citation)].map(([, name = '', first = '', others = '']) => ({ path, name, first, others })),
  )

  it('of a section leads to a section', () => {
    expect(cited.length).toBeGreaterThan(50)
    const broken = cited.flatMap(({ path, name, first, others }) => {
      const document = [name, join(dirname(path), name)].find((candidate) => existsSync(join(root, candidate)))
      if (document === undefined) return [`${path}: ${name} does not exist`]
      const section = sectionOf(document, first)
      if (section === undefined) return [`${path}: ${name} has no section ${first}`]
      // `§3, 8` is row 8 of a table in section 3; `§2, §6` is another section.
      return [...others.matchAll(/, (§?)(\d+)/g)].flatMap(([, sign, number = '']) => {
        const exists = sign === '§' ? sectionOf(document, number) !== undefined : section.includes(`\n| ${number} |`)
        return exists ? [] : [`${path}: ${name} has no ${sign}${number}`]
      })
    })
    expect(broken).toEqual([])
  })

  it('of a document leads to a document of this repository', () => {
    const broken = texts.flatMap(({ path, text }) =>
      [...proseOf(path, text).matchAll(/(?<![\w/.-])[\w.-][\w./-]*\.md\b/g)]
        .map(([name]) => name)
        // A bundle brings this one.
        .filter((name) => name !== 'VERIFY.md')
        .filter((name) => ![root, dirname(join(root, path))].some((folder) => existsSync(resolve(folder, name))))
        .map((name) => `${path}: ${name}`),
    )
    expect(broken).toEqual([])
  })

  it('names no path of a machine that this was written on', () => {
    const broken = pages.filter(({ text }) => /(^|[\s`('"])\/(work|root|home|tmp|Users)\//m.test(text))
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  it('of a decision leads to its file', () => {
    const decisions = readdirSync(join(root, 'docs/adr')).map((name) => Number(name.slice(0, 4)))
    const broken = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/\bADR (\d+)/g)]
        .filter(([, n]) => !decisions.includes(Number(n)))
        .map(([all]) => `${path}: ${all}`),
    )
    expect(broken).toEqual([])
  })
})

describe('a document', () => {
  it('has links that lead somewhere in this repository', () => {
    const broken = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^(https?|mailto):/.test(target))
        .filter((target) => {
          const [file = '', anchor] = target.split('#')
          const found = file === '' ? join(root, path) : resolve(root, dirname(path), file)
          if (relative(root, found).startsWith('..') || !existsSync(found)) return true
          return anchor !== undefined && !anchorsIn(readFileSync(found, 'utf8')).includes(anchor)
        })
        .map((target) => `${path}: ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('names files and scripts that exist', () => {
    const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts)
    // A changelog names files of its time; test/architecture.test.ts reads the map of rooms, planned ones included.
    const named = pages.filter(({ path }) => !['CHANGELOG.md', 'ARCHITECTURE.md'].includes(path))
    const broken = named.flatMap(({ path, text }) => [
      ...[...text.matchAll(/`((?:schemas|library|proof|engine|cli|platform|scripts|test|docs)\/[\w./-]*)`/g)]
        .filter(([, name = '']) => !existsSync(join(root, name)))
        .map(([, name]) => `${path}: ${name}`),
      ...[...text.matchAll(/npm run ([\w:-]+)/g)]
        .filter(([, name = '']) => !scripts.includes(name))
        .map(([all]) => `${path}: ${all}`),
    ])
    expect(broken).toEqual([])
  })
})

/** The anchors of the headings of a page, as forges make them. */
function anchorsIn(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

describe('README.md', () => {
  it('fits on a screen and leads to a page for each kind of user', () => {
    const readme = read('README.md')
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
    for (const page of ['developers', 'policy-authors', 'auditors', 'operators'])
      expect(readme).toContain(`(docs/${page}.md)`)
  })
})

describe('docs/README.md', () => {
  it('lists every page', () => {
    const index = read('docs/README.md')
    const missing = readdirSync(join(root, 'docs'))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .filter((name) => !index.includes(`](${name})`))
    expect(missing).toEqual([])
  })
})

describe('docs/adr/README.md', () => {
  it('lists every decision under its title, and nothing else', () => {
    const rows = read('docs/adr/README.md')
      .split('\n')
      .filter((line) => line.startsWith('| [0'))
      .map((line) => line.split(' | ').slice(0, 2).join(' | '))
    const decisions = readdirSync(join(root, 'docs/adr'))
      .filter((name) => name !== 'README.md')
      .sort()
      .map((name) => {
        const title = read(`docs/adr/${name}`)
          .split('\n')[0]
          ?.replace(/^# \d+\. /, '')
        return `| [${name.slice(0, 4)}](${name}) | ${title}`
      })
    expect(rows).toEqual(decisions)
  })
})

describe('docs/configuration.md', () => {
  it('lists exactly the variables that are read', () => {
    const rows = read('docs/configuration.md')
      .split('\n')
      .filter((line) => line.startsWith('| `SVC_'))
    const listed = rows.flatMap((row) => row.split(' | ')[0]?.match(/SVC_[A-Z_]+/g) ?? [])
    expect([...new Set(listed)].sort()).toEqual(Object.keys(variables).sort())
  })
})
