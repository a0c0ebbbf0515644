// The glossary of ARCHITECTURE.md, kept: words that it replaced do not come back.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Word {
  readonly word: string
  readonly instead: string
  /** Lower case and capitals differ. */
  readonly case?: true
  /** Files and folders that may hold it. */
  readonly allowed?: readonly string[]
}

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const words = parse(read('test/cases/words.yaml')) as Word[]
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(
    (path) =>
      /\.(ts|js|mjs|py|md|yaml|yml|json)$/.test(path) &&
      path !== 'package-lock.json' &&
      !path.startsWith('action/dist/'),
  )
  .filter((path) => !['test/cases/words.yaml', 'ARCHITECTURE.md'].includes(path))

describe('the words of the project', () => {
  it.each(words)('$instead, not $word', ({ word, case: isCase, allowed = [] }) => {
    const pattern = new RegExp(word, isCase === true ? '' : 'i')
    const found = files
      .filter((path) => !allowed.some((place) => path === place || path.startsWith(`${place}/`)))
      .flatMap((path) =>
        read(path)
          .split('\n')
          .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
      )
    expect(found).toEqual([])
  })
})
