// Reading a zip that another program wrote: the same members in another container. What two programs could read in two
// ways is refused: names that leave the folder or occur twice, members that overlap, headers that contradict each other.
import type { ZipEntry } from './zip.js'

/** A member and where its local header is. */
export interface ListedEntry extends ZipEntry {
  readonly header: number
  /** The bytes of its name, as its local header must repeat them. */
  readonly raw_name: Uint8Array
}

export interface ZipEnd {
  readonly directory: number
  readonly size: number
  readonly count: number
}

/** How far from the end of a file its end record can begin: 22 bytes and a remark. */
export const farthestEnd = 22 + 0xffff
/** Members of a bundle, and folders around them. */
const mostMembers = 64
/** Bytes of all members together. */
const mostBytes = 2 ** 34
/** A member larger than this that shrank to less than a thousandth is no bundle's. */
const freeBytes = 2 ** 26
const mostRatio = 1000
/** Options of deflate, sizes behind the content, names in UTF-8; anything else changes how a member is read. */
const knownFlags = 0x0806 | 0x0008
const behind = 0x0008

/** The end record in the last bytes of a file; null when there is none, or more than one could be meant. */
export function zipEnd(tail: Uint8Array, size: number): ZipEnd | null {
  const view = Buffer.from(tail)
  const found: (ZipEnd | null)[] = []
  for (let at = view.indexOf('PK\x05\x06', 0, 'latin1'); at >= 0; at = view.indexOf('PK\x05\x06', at + 1, 'latin1')) {
    if (at + 22 > view.length || at + 22 + view.readUInt16LE(at + 20) !== view.length) continue
    const [disk, first, here, count] = [4, 6, 8, 10].map((field) => view.readUInt16LE(at + field))
    const [length, directory] = [view.readUInt32LE(at + 12), view.readUInt32LE(at + 16)]
    const end = size - view.length + at
    const is_end = disk === 0 && first === 0 && here === count && directory + length === end
    found.push(is_end ? { directory, size: length, count: count ?? 0 } : null)
  }
  return found.length === 1 ? (found[0] ?? null) : null
}

/** The members that a directory lists, without folders and without the folder around all; else what is wrong with it. */
export function listedEntries(directory: Uint8Array, count: number): ListedEntry[] | string {
  const view = Buffer.from(directory)
  const all: ListedEntry[] = []
  let at = 0
  while (at < view.length) {
    if (at + 46 > view.length || view.readUInt32LE(at) !== 0x02014b50) return 'its directory is damaged'
    const [name_size = 0, extra = 0, remark = 0, disk] = [28, 30, 32, 34].map((field) => view.readUInt16LE(at + field))
    const end = at + 46 + name_size + extra + remark
    const [flags = 0, method] = [8, 10].map((field) => view.readUInt16LE(at + field))
    if (end > view.length || disk !== 0) return 'its directory is damaged'
    if ((flags & ~knownFlags) !== 0 || (method !== 0 && method !== 8))
      return 'a member is packed in a way that is not read'
    const [crc32 = 0, packed = 0, bytes = 0] = [16, 20, 24].map((field) => view.readUInt32LE(at + field))
    const raw_name = view.subarray(at + 46, at + 46 + name_size)
    const header = view.readUInt32LE(at + 42)
    all.push({ name: raw_name.toString('latin1'), deflated: method === 8, crc32, packed, bytes, header, raw_name })
    at = end
  }
  if (all.length !== count || count === 0 || count > mostMembers) return 'it has more or fewer members than it says'
  return checked(all)
}

function checked(all: readonly ListedEntry[]): ListedEntry[] | string {
  for (const { name } of all)
    if (!/^[ -~]+$/.test(name) || /^\/|\\|:|(^|\/)\.\.(\/|$)/.test(name))
      return `the name \`${name.slice(0, 80)}\` leaves the folder, or is not plain`
  const plain = all.map((entry) => ({ ...entry, name: entry.name.replace(/^(\.\/)+/, '') }))
  const members = plain.filter(({ name }) => name !== '' && !name.endsWith('/'))
  const [top = ''] = members.map(({ name }) => /^[^/]+\//.exec(name)?.[0] ?? '')
  const isAround = top !== '' && plain.every(({ name }) => name === '' || name.startsWith(top))
  const files = isAround ? members.map((entry) => ({ ...entry, name: entry.name.slice(top.length) })) : members
  if (new Set(files.map(({ name }) => name)).size < files.length) return 'a name occurs twice in it'
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const isBomb = files.some(({ bytes, packed }) => bytes > freeBytes && bytes > packed * mostRatio)
  if (total > mostBytes || isBomb) return 'its members are larger than any that is written'
  return files
}

/** Where the packed bytes of a member begin, by the first 30 bytes of its local header and its name; null when they differ. */
export function contentStart(entry: ListedEntry, local: Uint8Array): number | null {
  const view = Buffer.from(local)
  const { raw_name, header, deflated, crc32, packed, bytes } = entry
  if (view.length < 30 + raw_name.length || view.readUInt32LE(0) !== 0x04034b50) return null
  const [flags = 0, method, name_size, extra = 0] = [6, 8, 26, 28].map((field) => view.readUInt16LE(field))
  const name = view.subarray(30, 30 + raw_name.length)
  const said = [14, 18, 22].map((field) => view.readUInt32LE(field))
  const isSame =
    name_size === raw_name.length &&
    Buffer.compare(name, raw_name) === 0 &&
    (flags & ~knownFlags) === 0 &&
    method === (deflated ? 8 : 0) &&
    ((flags & behind) !== 0 || said.join() === [crc32, packed, bytes].join())
  return isSame ? header + 30 + raw_name.length + extra : null
}

/** Whether no member begins before the one before it has ended, and all end before the directory. */
export function areApart(
  places: readonly { readonly header: number; readonly end: number }[],
  directory: number,
): boolean {
  const sorted = [...places].sort((a, b) => a.header - b.header)
  return sorted.every(({ end }, at) => end <= (sorted[at + 1]?.header ?? directory))
}
