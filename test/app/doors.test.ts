// The one door of the App for each outside thing, read from its sources.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../app/', import.meta.url))
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The files whose text matches. */
const filesWith = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path)

describe('the App', () => {
  it('knows Probot in one file, which loads it late', () => {
    expect(filesWith(/['"]probot['"]/)).toEqual(['receiver/probot.ts'])
    expect(filesWith(/^import [^']*'probot'/m)).toEqual([])
  })

  it('calls GitHub through the client of the platform', () => {
    expect(filesWith(/x-github-api-version|\.send\(url/)).toEqual([])
    expect(filesWith(/createGithubApi|createOutgoing/)).toEqual(['room.ts'])
    expect(filesWith(/(?<![.\w])fetch\(|'node:https?'|'node:net'|'undici'/)).toEqual([])
  })

  it('starts no process, and reads neither files nor the environment', () => {
    expect(filesWith(/'node:(child_process|fs)|process\.env/)).toEqual([])
  })

  it('says what a check found, and by which rules, from values alone', () => {
    const outside = /'node:|Date\.now|Math\.random|import (?!type)[^']*'(@svc\/platform|\.\.\/\.\.\/)/
    expect(filesWith(outside).filter((path) => /^check\/(content|rules)\//.test(path))).toEqual([])
  })

  it('holds SQL in stores', () => {
    expect(filesWith(/\.query[<(]/).filter((path) => !path.endsWith('-store.ts'))).toEqual([])
  })
})
