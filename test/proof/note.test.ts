// Signed notes and checkpoints: the published example of the format, and malformed notes.
import {
  formatCheckpoint,
  formatNote,
  formatVerifier,
  parseCheckpoint,
  parseNote,
  parseVerifier,
  signerOf,
  signText,
  verifySignature,
} from '@svc/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../support/random.js'

const seed = Buffer.alloc(32, 7)
const log = signerOf('log.example/org/org_1/1', 'note', seed)
const witness = signerOf('witness.example', 'witness', Buffer.alloc(32, 8))
const text = formatCheckpoint({ origin: 'log.example/org/org_1/1', size: 20852163, root: Buffer.alloc(32, 1) })
const note = formatNote({ text, signatures: [signText(text, log), signText(text, witness, 1_780_000_000)] })

describe('a note', () => {
  // The example of golang.org/x/mod/sumdb/note, the origin of the C2SP format.
  it('of another implementation is read', () => {
    const peter = parseVerifier('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
    const body = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    const signed = `${body}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`
    const read = parseNote(signed)
    expect(read?.text).toBe(body)
    const [signature] = read?.signatures ?? []
    if (peter === null || signature === undefined) throw new Error('not read')
    expect(verifySignature(body, signature, peter)).toEqual({ time: null })
    expect(verifySignature(`${body} `, signature, peter)).toBeNull()
    expect(formatVerifier(peter)).toBe('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
  })

  it('is read as it was written, and each signature verifies with its own key only', () => {
    const read = parseNote(note)
    if (read === null) throw new Error('not read')
    expect(formatNote(read)).toBe(note)
    const [own, seen] = read.signatures
    if (own === undefined || seen === undefined) throw new Error('not signed')
    expect(verifySignature(text, own, log.verifier)).toEqual({ time: null })
    expect(verifySignature(text, seen, witness.verifier)).toEqual({ time: 1_780_000_000 })
    expect(verifySignature(text, own, witness.verifier)).toBeNull()
    expect(verifySignature(text, { ...seen, name: own.name, key_id: own.key_id }, log.verifier)).toBeNull()
  })

  it('with any changed character loses a signature or is malformed', () => {
    fc.assert(
      fc.property(
        fc.nat(note.length - 1),
        fc.constantFrom('x', '\n', '0', '=', ' ', '—', '\u0001'),
        (at, character) => {
          fc.pre(note[at] !== character)
          const read = parseNote(note.slice(0, at) + character + note.slice(at + 1))
          const still = (read?.signatures ?? []).filter((signature) =>
            [log, witness].some(({ verifier }) => verifySignature(read?.text ?? '', signature, verifier) !== null),
          )
          // A changed signature line leaves the other signature valid; a changed text leaves no valid signature.
          expect(still.length).toBeLessThanOrEqual(read?.text === text ? 1 : 0)
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  it.each([
    ['without signatures', text],
    ['without its last line break', note.slice(0, -1)],
    ['with a control character', note.replace('log', 'l\u0007g')],
    ['with a line that is not a signature', `${note}hello\n`],
    ['with base64 that is not canonical', note.replace(/=+\n$/, '\n')],
    ['far too long', `${'a\n'.repeat(40_000)}${note}`],
    ['with a lone surrogate', `\ud800${note}`],
  ])('%s is malformed', (_, wrong) => expect(parseNote(wrong)).toBeNull())
})

describe('a key', () => {
  it.each([
    '',
    'a+b',
    'log.example+00000000+AQ==',
    `${formatVerifier(log.verifier)} `,
    'a b+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  ])('`%s` is malformed', (wrong) => expect(parseVerifier(wrong)).toBeNull())

  it('has another id under another name and as a witness', () => {
    const ids = [log, signerOf('other', 'note', seed), signerOf('other', 'witness', seed)].map(({ verifier }) =>
      Buffer.from(verifier.key_id).toString('hex'),
    )
    expect(new Set(ids).size).toBe(3)
  })

  it('is rejected with an invalid name or seed', () => {
    expect(() => signerOf('a b', 'note', seed)).toThrow(RangeError)
    expect(() => signerOf('a', 'note', Buffer.alloc(31))).toThrow(RangeError)
  })
})

describe('a checkpoint', () => {
  it('has the log, the size and the root', () => {
    expect(parseCheckpoint(text)).toEqual({
      origin: 'log.example/org/org_1/1',
      size: 20852163,
      root: Buffer.alloc(32, 1),
    })
    expect(parseCheckpoint(`${text}an extension\n`)?.size).toBe(20852163)
  })

  const root = Buffer.alloc(32).toString('base64')
  it.each([
    `\n1\n${root}\n`,
    `log\n01\n${root}\n`,
    `log\n-1\n${root}\n`,
    `log\n9007199254740993\n${root}\n`,
    `log\n1\n${root.slice(4)}\n`,
    `log\n1\n${root}`,
    'log\n1\n',
  ])('%j is malformed', (wrong) => expect(parseCheckpoint(wrong)).toBeNull())
})
