// A bundle that was unpacked and packed again: the files decide, and the verdict notes the container. A zip that two
// programs could read differently is rejected.
import { crc32, deflateRawSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { World } from '../../proof/attacks/world.js'
import { verdictText } from '../../proof/verify/text.js'
import { contentsOf, openAuditorFolder, verifyWithBoth } from '../support/log/bundle.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

const world = new World()
for (let step = 0; step < 3; step++) world.step('task', 'step.tool', { verb: 'GET', input: { step } })
world.publish()
const contents = contentsOf(world.bundle())

/** A member as another program writes it; the optional fields deviate from the ordinary form. */
interface Member {
  readonly name: string
  readonly content: Buffer
  readonly stored?: boolean
  readonly sizesAfter?: boolean
  readonly extra?: Buffer
  /** Another name in its local header. */
  readonly local_name?: string
  readonly flags?: number
  /** Another size of its content. */
  readonly bytes?: number
  /** Another offset of its header. */
  readonly at?: number
}

/** A zip as common programs write it: other dates, extra fields, sizes after the content. */
function zipped(members: readonly Member[], comment = ''): Buffer {
  const [parts, records]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const { name, content, stored = false, sizesAfter = false, extra = Buffer.alloc(0), ...odd } of members) {
    const packed = stored ? content : deflateRawSync(content)
    const sizes = [crc32(content), packed.length, odd.bytes ?? content.length]
    const flags = (odd.flags ?? 0) | (sizesAfter ? 8 : 0)
    const about = (of: string, here: readonly number[]) =>
      Buffer.concat([
        shorts(20, flags, stored ? 0 : 8, 0x6000, 0x5a21),
        longs(...here),
        shorts(of.length, extra.length),
      ])
    const own = odd.local_name ?? name
    const header = [longs(0x04034b50), about(own, sizesAfter ? [0, 0, 0] : sizes), Buffer.from(own), extra, packed]
    const after = sizesAfter ? [longs(0x08074b50, ...sizes)] : []
    const header_offset = odd.at ?? offset
    records.push(
      Buffer.concat([longs(0x02014b50), shorts(0x031e), about(name, sizes), shorts(0, 0, 0), longs(0, header_offset)]),
      Buffer.concat([Buffer.from(name), extra]),
    )
    parts.push(...header, ...after)
    offset = Buffer.concat(parts).length
  }
  const directory = Buffer.concat(records)
  const end = [longs(0x06054b50), shorts(0, 0, members.length, members.length), longs(directory.length, offset)]
  return Buffer.concat([...parts, directory, ...end, shorts(comment.length), Buffer.from(comment)])
}

const shorts = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from(Uint16Array.of(value).buffer)))
const longs = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from(Uint32Array.of(value).buffer)))

const all = (change: (member: Member) => Member = (member) => member) =>
  [...contents].map(([name, content]) => change({ name, content }))
const named = (name: string, change: object) =>
  all((member) => (member.name === name ? { ...member, ...change } : member))
const folder = (name: string): Member => ({ name, content: Buffer.alloc(0), stored: true })
const verdictOf = (bytes: Buffer) => verifyWithBoth(auditor.put('bundle.zip', bytes), world.trust(false), auditor)

const manifest = contents.get('manifest.json') ?? Buffer.alloc(0)
/** Members of a zip that is rejected, with the code. */
const rejected: readonly (readonly [string, readonly Member[], string])[] = [
  ['an additional file', [...all(), { name: 'more.txt', content: manifest }], 'bytes_altered'],
  ['a missing file', all().filter(({ name }) => name !== 'VERIFY.md'), 'bytes_altered'],
  ['a file twice', [...all(), { name: 'manifest.json', content: manifest }], 'not_a_bundle'],
  ['a file twice, once with ./', [...all(), { name: './manifest.json', content: manifest }], 'not_a_bundle'],
  ['a name that leaves the folder', [...all(), { name: '../x', content: manifest }], 'not_a_bundle'],
  ['a nested name that leaves the folder', [...all(), { name: 'a/../../x', content: manifest }], 'not_a_bundle'],
  ['an absolute name', [...all(), { name: '/etc/x', content: manifest }], 'not_a_bundle'],
  ['a name with a drive letter', [...all(), { name: 'C:x', content: manifest }], 'not_a_bundle'],
  ['a name with a backslash', [...all(), { name: '..\\x', content: manifest }], 'not_a_bundle'],
  ['two folders', all((member) => ({ ...member, name: `${member.name[0]}/${member.name}` })), 'not_a_bundle'],
  ['another name in the local header', named('VERIFY.md', { local_name: 'VERIFY.mb' }), 'not_a_bundle'],
  ['a member inside another', named('nodes.bin', { at: 10 }), 'not_a_bundle'],
  [
    'two names of one member',
    [...all(), { name: 'x.md', local_name: 'VERIFY.md', content: manifest, at: 0 }],
    'not_a_bundle',
  ],
  ['an encrypted member', named('VERIFY.md', { flags: 1 }), 'not_a_bundle'],
  ['a wrong size', named('VERIFY.md', { bytes: 2 }), 'bytes_altered'],
  ['a size of 4 GiB', named('VERIFY.md', { bytes: 0xffff_fffe }), 'not_a_bundle'],
  ['a zip bomb', named('VERIFY.md', { content: Buffer.alloc(80_000_000) }), 'not_a_bundle'],
  ['too many members', [...all(), ...Array.from({ length: 80 }, (_, at) => folder(`f${at}/`))], 'not_a_bundle'],
]

describe('a bundle that was packed again', () => {
  it.each<[string, readonly Member[], string?]>([
    ['unchanged', all()],
    ['without compression', all((member) => ({ ...member, stored: true }))],
    ['in another order', all().reverse()],
    ['with a comment', all(), 'by another program'],
    ['with extra fields', all((member) => ({ ...member, extra: Buffer.from('7570040061626364', 'hex') }))],
    ['with sizes after the content', all((member) => ({ ...member, sizesAfter: true }))],
    ['with names that begin with ./', all((member) => ({ ...member, name: `./${member.name}` }))],
    ['in a folder', [folder('january/'), ...all((member) => ({ ...member, name: `january/${member.name}` }))]],
  ])('%s is valid, and its container is noted', async (_, members, comment) => {
    const bytes = zipped(members, comment)
    const verdict = await verdictOf(bytes)
    expect([verdict.valid, verdict.container]).toEqual([true, 'repacked'])
    expect(verdictText('bundle.zip', verdict)).toContain('! container  packed again by another program')
  })

  it('names the file that was changed', async () => {
    for (const [name, content] of contents) {
      if (name.startsWith('manifest') || content.length === 0) continue
      const altered = Buffer.from(content)
      altered.writeUInt8(altered.readUInt8(0) ^ 1, 0)
      const { findings } = await verdictOf(zipped(named(name, { content: altered })))
      expect(findings).toMatchObject([{ code: 'bytes_altered', where: name }])
    }
  })

  it.each(rejected)('is rejected with %s', async (_, members, code) => {
    const { findings } = await verdictOf(zipped(members))
    expect(findings).toMatchObject([{ code }])
  })

  it('is rejected with two end records', async () => {
    const bytes = zipped(all())
    const end = bytes.subarray(-22)
    const twice = Buffer.concat([bytes.subarray(0, -2), Buffer.of(22, 0), end])
    expect((await verdictOf(twice)).valid).toBe(false)
  })
})
