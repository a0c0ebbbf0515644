// Reads a zip that another program wrote: the same members in another container. It rejects everything that two programs
// could read differently: names that leave the folder or occur twice, overlapping members, contradictory headers.
import type { ZipEntry } from './zip.js'

/** A member as the directory lists it. */
export interface ListedEntry extends ZipEntry {
  /** Offset of its local header. */
  readonly header: number
  /** The bytes of its name, which the local header must repeat. */
  readonly raw_name: Uint8Array
}

export interface ZipEnd {
  readonly directory: number
  readonly size: number
  readonly count: number
}

/** The end record is 22 bytes and a comment of up to 65,535. */
export const maxEndBytes = 22 + 0xffff
/** Members of a bundle, folders included. */
const maxMembers = 64
/** Bytes of all members together. */
const maxTotalBytes = 2 ** 34
/** A larger member must not be compressed by more than `maxRatio`. */
const maxUncheckedBytes = 2 ** 26
const maxRatio = 1000
/** Options of deflate, sizes after the content, names in UTF-8; any other flag changes how a member is read. */
const knownFlags = 0x0806 | 0x0008
const sizesAfterContent = 0x0008

/** The end record in the last bytes of a file; null when the file has none or more than one. */
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

/** The members that a directory lists, without folders and without a folder around all of them; otherwise the problem. */
export function listedEntries(directory: Uint8Array, count: number): ListedEntry[] | string {
  const view = Buffer.from(directory)
  const all: ListedEntry[] = []
  let at = 0
  while (at < view.length) {
    if (at + 46 > view.length || view.readUInt32LE(at) !== 0x02014b50) return 'its directory is damaged'
    const [name_size = 0, extra = 0, comment = 0, disk] = [28, 30, 32, 34].map((field) => view.readUInt16LE(at + field))
    const end = at + 46 + name_size + extra + comment
    const [flags = 0, method] = [8, 10].map((field) => view.readUInt16LE(at + field))
    if (end > view.length || disk !== 0) return 'its directory is damaged'
    if ((flags & ~knownFlags) !== 0 || (method !== 0 && method !== 8))
      return 'a member uses an unsupported compression method or flag'
    const [crc32 = 0, packed = 0, bytes = 0] = [16, 20, 24].map((field) => view.readUInt32LE(at + field))
    const raw_name = view.subarray(at + 46, at + 46 + name_size)
    const header = view.readUInt32LE(at + 42)
    all.push({ name: raw_name.toString('latin1'), deflated: method === 8, crc32, packed, bytes, header, raw_name })
    at = end
  }
  if (all.length !== count) return `its directory lists ${all.length} members, its end record ${count}`
  if (count === 0 || count > maxMembers) return `it has ${count} members; a bundle has 1 to ${maxMembers}`
  return checked(all)
}

function checked(all: readonly ListedEntry[]): ListedEntry[] | string {
  for (const { name } of all)
    if (!/^[ -~]+$/.test(name) || /^\/|\\|:|(^|\/)\.\.(\/|$)/.test(name))
      return `the name \`${name.slice(0, 80)}\` leaves the folder or is not plain ASCII`
  const plain = all.map((entry) => ({ ...entry, name: entry.name.replace(/^(\.\/)+/, '') }))
  const members = plain.filter(({ name }) => name !== '' && !name.endsWith('/'))
  const [top = ''] = members.map(({ name }) => /^[^/]+\//.exec(name)?.[0] ?? '')
  const isAround = top !== '' && plain.every(({ name }) => name === '' || name.startsWith(top))
  const files = isAround ? members.map((entry) => ({ ...entry, name: entry.name.slice(top.length) })) : members
  if (new Set(files.map(({ name }) => name)).size < files.length) return 'a name occurs twice'
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const isBomb = files.some(({ bytes, packed }) => bytes > maxUncheckedBytes && bytes > packed * maxRatio)
  if (total > maxTotalBytes || isBomb) return 'its members are larger than those of a bundle'
  return files
}

/**
 * Offset of the packed bytes of a member, from its local header (30 bytes and the name); null when the header differs from the
 * directory.
 */
export function contentStart(entry: ListedEntry, local: Uint8Array): number | null {
  const view = Buffer.from(local)
  const { raw_name, header, deflated, crc32, packed, bytes } = entry
  if (view.length < 30 + raw_name.length || view.readUInt32LE(0) !== 0x04034b50) return null
  const [flags = 0, method, name_size, extra = 0] = [6, 8, 26, 28].map((field) => view.readUInt16LE(field))
  const name = view.subarray(30, 30 + raw_name.length)
  const sizes = [14, 18, 22].map((field) => view.readUInt32LE(field))
  const isSame =
    name_size === raw_name.length &&
    Buffer.compare(name, raw_name) === 0 &&
    (flags & ~knownFlags) === 0 &&
    method === (deflated ? 8 : 0) &&
    ((flags & sizesAfterContent) !== 0 || sizes.join() === [crc32, packed, bytes].join())
  return isSame ? header + 30 + raw_name.length + extra : null
}

/** True if the members do not overlap each other or the directory. */
export function areApart(
  members: readonly { readonly header: number; readonly end: number }[],
  directory: number,
): boolean {
  const sorted = [...members].sort((a, b) => a.header - b.header)
  return sorted.every(({ end }, at) => end <= (sorted[at + 1]?.header ?? directory))
}
