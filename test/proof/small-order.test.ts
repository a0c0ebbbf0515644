// Keys of small order, for which signatures need no secret, are rejected in every setting and by both verifiers.
import { spawnSync } from 'node:child_process'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatVerifier, parseTrustPolicy, parseVerifier, signerOf } from '@svc/proof'
import { describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { discard, startPlatform } from '../support/server/platform.js'

const p = 2n ** 255n - 19n
const hexOf = (y: bigint, sign: bigint) =>
  Buffer.from((y + (sign << 255n)).toString(16).padStart(64, '0'), 'hex')
    .reverse()
    .toString('hex')
const y8 = [
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]
const encodings: readonly (readonly [string, string])[] = [
  ...[0n, 1n].flatMap((sign) => [
    [`y = 1, sign ${sign}`, hexOf(1n, sign)] as const,
    [`y = -1, sign ${sign}`, hexOf(p - 1n, sign)] as const,
    [`y = 0, sign ${sign}`, hexOf(0n, sign)] as const,
    [`y = p, not reduced, sign ${sign}`, hexOf(p, sign)] as const,
    [`y = p + 1, not reduced, sign ${sign}`, hexOf(p + 1n, sign)] as const,
  ]),
  ...y8.flatMap((hex) => [
    ['order 8', hex] as const,
    ['order 8, the other sign', `${hex.slice(0, 62)}${(Number(`0x${hex.slice(62)}`) | 0x80).toString(16)}`] as const,
  ]),
]
const written = (name: string, kind: 1 | 4, key: Buffer) => {
  const bytes = Buffer.concat([Buffer.of(kind), key])
  const id = createHash('sha256').update(`${name}\n`).update(bytes).digest('hex').slice(0, 8)
  return `${name}+${id}+${bytes.toString('base64')}`
}
const good = formatVerifier(signerOf('example.org/log', 'note', Buffer.alloc(32, 1)).verifier)

/** OpenSSL 3.5 began to reject these keys itself; Node.js 20 has 3.0. */
const rejectedByOpenSsl = !/^(1|3\.[0-4])\./.test(process.versions.openssl)

describe('a key of small order', () => {
  it.skipIf(rejectedByOpenSsl)('makes a signature valid that needs no secret', () => {
    const key = Buffer.from(hexOf(1n, 0n), 'hex')
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key])
    const known = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const forged = Buffer.concat([key, Buffer.alloc(32)])
    expect(verify(null, Buffer.from('any text'), known, forged)).toBe(true)
  })

  it.each(encodings)('is rejected in a trust policy: %s', (_, hex) => {
    const key = Buffer.from(hex, 'hex')
    const log = written('example.org/log', 1, key)
    expect(parseVerifier(log)).toBeNull()
    const text = `log ${good}\nlog ${log}\nwitness far ${written('far', 4, key)}\n`
    expect(parseTrustPolicy(text).errors).toEqual([
      { line: 2, message: expect.stringContaining('is a point of small order, for which signatures need no secret') },
      { line: 3, message: expect.stringContaining('is a point of small order, for which signatures need no secret') },
    ])
  })

  it('is rejected by the second verifier, which accepts other keys', () => {
    const program = `import sys, notes; print([notes.parse_key(k) is None for k in sys.argv[1:]])`
    const keys = encodings.map(([, hex]) => written('example.org/log', 1, Buffer.from(hex, 'hex')))
    const cwd = fileURLToPath(new URL('./verifier/', import.meta.url))
    const { stdout, error } = spawnSync('python3', ['-B', '-c', program, ...keys, good], { cwd, encoding: 'utf8' })
    if (error !== undefined) return console.log('skipped: no python3 on this machine')
    expect(stdout.trim()).toBe(`[${[...keys.map(() => 'True'), 'False'].join(', ')}]`)
  })

  it('is rejected as a witness of a platform, and as the log of a witness', async () => {
    const key = Buffer.from(hexOf(0n, 1n), 'hex')
    const SVC_WITNESSES = `https://witness.example.org#${written('far', 4, key)}`
    const started = startPlatform({ env: { SVC_WITNESSES } }).then(discard)
    await expect(started).rejects.toThrow(/^SVC_WITNESSES: the key .* is a point of small order/)
    const dir = mkdtempSync(join(tmpdir(), 'svc-weak-'))
    const args = [
      'witness',
      '--name',
      'witness.example',
      '--dir',
      dir,
      '--port',
      '0',
      '--log',
      written('example.org/log', 1, key),
    ]
    const { code, stderr } = await runSvc(args)
    rmSync(dir, { recursive: true })
    expect([code, stderr]).toEqual([1, expect.stringContaining('is a point of small order')])
  })
})
