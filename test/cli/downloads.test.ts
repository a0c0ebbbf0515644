// Data from an untrusted platform: interrupted downloads, and texts that are printed on a terminal.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { download } from '../../cli/account/session.js'
import { jsonText, printable } from '../../proof/printable.js'

describe('a download', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-download-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Downloads from a server that answers like this; the message of the error, null for a success. */
  async function downloaded(file: string, answer: RequestListener): Promise<string | null> {
    const server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const session = { url, access_token: 'a', refresh_token: 'r', until: Number.MAX_SAFE_INTEGER }
    const problem = await download(session, '/bundle', file).then(
      () => null,
      (error: Error) => error.message,
    )
    await new Promise((resolve) => server.close(resolve))
    return problem
  }

  it('is written as a whole', async () => {
    const file = join(folder, 'b.zip')
    expect(await downloaded(file, (_, response) => response.end('whole'))).toBeNull()
    expect(readFileSync(file, 'utf8')).toBe('whole')
    expect(readdirSync(folder)).toEqual(['b.zip'])
  })

  it('leaves the previous file when it is interrupted', async () => {
    const file = join(folder, 'b.zip')
    const breakOff: RequestListener = (_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => response.destroy())
    }
    expect(await downloaded(file, breakOff)).toMatch(/b\.zip` is not written: the download was interrupted \(.+\)$/)
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(file, 'before')
    expect(await downloaded(file, breakOff)).toContain('is not written')
    expect(readFileSync(file, 'utf8')).toBe('before')
    expect(readdirSync(folder)).toEqual(['b.zip'])
  })

  it('reports a file that cannot be written', async () => {
    const file = join(folder, 'nowhere', 'b.zip')
    expect(await downloaded(file, (_, response) => response.end('whole'))).toMatch(/is not written: ENOENT/)
    expect(existsSync(file)).toBe(false)
  })

  it('reports the reason of a rejection', async () => {
    const reject: RequestListener = (_, response) => response.writeHead(403).end('{"detail":"not for you"}')
    expect(await downloaded(join(folder, 'b.zip'), reject)).toBe('not for you')
    const babble: RequestListener = (_, response) => response.writeHead(500).end('<html>')
    expect(await downloaded(join(folder, 'b.zip'), babble)).toMatch(/is not a svc platform: its answer is not JSON$/)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('on a terminal', () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom('\u001b', '\u009b', '\r', '\b', '\u202e', '\u2066', '\u061c', '\n', '[2J', ']0;', 'a'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
    ),
  })
  const acted = /[^\P{Cc}\n]|\p{Bidi_Control}/u

  it('untrusted text has no control characters', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text)).not.toMatch(acted)
        expect(printable(text)).not.toContain('\n')
      }),
    )
  })

  it('untrusted JSON has no control characters and keeps its value', () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, fc.array(hostile)), (value) => {
        const text = jsonText(value)
        expect(text).not.toMatch(acted)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
