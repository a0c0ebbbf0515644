// `svc witness` over HTTP: what it signs, what it rejects, and what it remembers.
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  consistencyRanges,
  Frontier,
  formatAddCheckpoint,
  formatCheckpoint,
  formatVerifier,
  type Hash,
  parseVerifier,
  readSignature,
  signerOf,
  signText,
  verifySignature,
} from '@svc/proof'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { startWitness, type WitnessProcess } from '../support/log/witness.js'

const origin = 'log.example/org/org_1/1'
const log = signerOf(origin, 'note', Buffer.alloc(32, 1))
const thief = signerOf(origin, 'note', Buffer.alloc(32, 2))

/** A log whose leaves differ from another's from `fork` on. */
function tree(fork = Number.POSITIVE_INFINITY) {
  const leaf = (index: number) =>
    createHash('sha256')
      .update(`${index} ${index >= fork}`)
      .digest()
  const root = (from: number, to: number): Hash => {
    const frontier = new Frontier(0, [])
    for (let index = from; index < to; index++) frontier.add(leaf(index))
    return frontier.root()
  }
  return {
    request: (old: number, size: number, { signer = log, proof = old > 0, name = origin } = {}) => {
      const text = formatCheckpoint({ origin: name, size, root: root(0, size) })
      const hashes =
        proof && old > 0 && old <= size ? consistencyRanges(old, size).map(({ from, to }) => root(from, to)) : []
      return { text, body: formatAddCheckpoint(old, hashes, { text, signatures: [signText(text, signer)] }) }
    },
  }
}

describe('a witness', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-witness-'))
  let witness: WitnessProcess
  beforeAll(async () => {
    witness = await startWitness(folder, [formatVerifier(log.verifier)])
  })
  afterAll(async () => {
    expect(await witness.stop()).toBe(0)
    rmSync(folder, { recursive: true })
  })

  const expectSigned = (text: string, answer: string) => {
    const [key, signature] = [parseVerifier(witness.key), readSignature(answer.trim())]
    if (key === null || signature === null) throw new Error('no signature')
    const time = verifySignature(text, signature, key)?.time ?? 0
    expect(Math.abs(Date.now() / 1000 - time)).toBeLessThan(60)
  }

  it('signs the first checkpoint of a log, and later ones of the same or a larger size', async () => {
    for (const [old, size] of [
      [0, 5],
      [5, 5],
      [5, 12],
      [12, 300],
    ] as const) {
      const { text, body } = tree().request(old, size)
      const answer = await witness.add(body)
      expect([answer.status, answer.type]).toEqual([200, 'text/plain; charset=utf-8'])
      expectSigned(text, answer.text)
    }
  })

  it('answers another old size with the size that it remembers', async () => {
    for (const [old, size] of [
      [0, 400],
      [12, 400],
      [299, 299],
    ] as const) {
      const { status, type, text } = await witness.add(tree().request(old, size).body)
      expect([status, type, text]).toEqual([409, 'text/x.tlog.size', '300\n'])
    }
  })

  it.each([
    ['another past', tree(7).request(300, 310).body, 422],
    ['another log of the same size', tree(299).request(300, 300).body, 409],
    ['a log that has shrunk', tree().request(300, 299, { proof: false }).body, 400],
    ['no proof', tree().request(300, 310, { proof: false }).body, 422],
    ['a signature of another key', tree().request(300, 310, { signer: thief }).body, 403],
    [
      'another log',
      tree().request(0, 3, {
        name: 'other.example/log',
        signer: signerOf('other.example/log', 'note', Buffer.alloc(32, 1)),
      }).body,
      404,
    ],
    ['nothing', '', 400],
    ['no note', 'old 300\n\nhello\n', 400],
    ['a negative size', tree().request(300, 310).body.replace('old 300', 'old -1'), 400],
    [
      'a proof of 64 hashes',
      tree()
        .request(300, 310)
        .body.replace('old 300\n', `old 300\n${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}`),
      400,
    ],
    ['far too much', 'x'.repeat(300_000), 413],
  ])('does not sign for %s', async (_, body, status) => {
    const answer = await witness.add(body)
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain('—')
  })

  it('keeps its key and its memory over a restart', async () => {
    const { key } = witness
    await witness.stop()
    witness = await startWitness(folder, [formatVerifier(log.verifier)])
    expect(witness.key).toBe(key)
    expect((await witness.add(tree().request(0, 400).body)).text).toBe('300\n')
    expect((await witness.add(tree().request(300, 400).body)).status).toBe(200)
  })

  it('signs one root of an empty log only', async () => {
    const name = 'empty.example/log'
    const signer = signerOf(name, 'note', Buffer.alloc(32, 3))
    const other = mkdtempSync(join(tmpdir(), 'svc-witness-'))
    const empty = await startWitness(other, [formatVerifier(signer.verifier)])
    const answerTo = (root: Hash) => {
      const text = formatCheckpoint({ origin: name, size: 0, root })
      return empty.add(formatAddCheckpoint(0, [], { text, signatures: [signText(text, signer)] }))
    }
    expect((await answerTo(Buffer.alloc(32, 9))).status).toBe(409)
    expect((await answerTo(new Frontier(0, []).root())).status).toBe(200)
    expect((await answerTo(Buffer.alloc(32, 9))).status).toBe(409)
    await empty.stop()
    rmSync(other, { recursive: true })
  })

  it('does not share its memory with another process', async () => {
    const args = ['witness', '--name', 'w', '--dir', folder, '--port', '0', '--log', formatVerifier(log.verifier)]
    const { code, stderr } = await runSvc(args)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is in use by process \d+: stop it first, or give another --dir/),
    ])
  })

  it('signs nothing when its memory is damaged', async () => {
    const [file] = readdirSync(join(folder, 'seen'))
    writeFileSync(join(folder, 'seen', file ?? ''), '{}')
    expect((await witness.add(tree().request(400, 401).body)).status).toBe(500)
  })

  it.each([
    [['--name', 'a b', '--log', formatVerifier(log.verifier)], 1, /neither spaces/],
    [['--name', 'w'], 1, /`--log` is missing/],
    [['--name', 'w', '--log', 'nothing'], 1, /is not the key of a log/],
    [[], 2, /required option/],
    [['--name', 'w', '--port', 'x'], 2, /0 to 65535/],
  ])('%j does not start', async (args, code, message) => {
    const other = mkdtempSync(join(tmpdir(), 'svc-witness-'))
    const ended = await runSvc(['witness', '--dir', other, ...args])
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)])
    rmSync(other, { recursive: true })
  })
})
