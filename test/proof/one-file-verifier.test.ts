// The verifier as one file: the build makes it, and the repository holds its SHA-256.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sha256Hex } from '@svc/proof'
import { describe, expect, it } from 'vitest'

const proof = fileURLToPath(new URL('../../proof/', import.meta.url))
const run = (...args: string[]) =>
  spawnSync(process.execPath, [`${proof}svc-verify.mjs`, ...args], { encoding: 'utf8' })

describe('proof/svc-verify.mjs', () => {
  it('has the published SHA-256', () => {
    const digest = sha256Hex(readFileSync(`${proof}svc-verify.mjs`))
    expect(readFileSync(`${proof}svc-verify.sha256`, 'utf8')).toBe(`${digest}  svc-verify.mjs\n`)
  })

  it('imports only modules of Node.js', () => {
    const text = readFileSync(`${proof}svc-verify.mjs`, 'utf8')
    const imported = [...text.matchAll(/^import .* from "(.*)";$/gm)].map(([, name]) => name)
    expect(imported.length).toBeGreaterThan(3)
    expect(imported.filter((name) => !name?.startsWith('node:'))).toEqual([])
  })

  it('names a file that does not exist', () => {
    expect(run('bundle.zip', '--trust', 'none')).toMatchObject({
      status: 2,
      stderr: 'svc verify: `none` does not exist\n',
    })
  })

  it('exits with 2 and its usage without a trust policy', () => {
    expect(run('--help')).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('--trust') })
    expect(run('bundle.zip')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('give one bundle and --trust'),
    })
  })
})
