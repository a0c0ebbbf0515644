// Files that are compressed or not JSON at all, told by their first bytes: their lines could only be reported as unreadable.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { shellWord } from '../../called-as.js'
import type { FormatName } from './formats.js'
import { type Source, stdinName } from './source.js'

const gzip = Buffer.from([0x1f, 0x8b])
const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
/** The length that the file exporter of OpenTelemetry writes before each message that is not JSON, in bytes. */
const lengthBytes = 4
/** The first byte of spans as protobuf: the list of `resource_spans`. */
const firstField = 0x0a

/** The reason why the file cannot be read, and what to do; null for a file that may be text. */
export function binaryReason({ path, name }: Source, format: FormatName, svc: string): string | null {
  const [start, length] = firstBytes(path)
  const piped = (program: string) =>
    `${name === stdinName ? `… | ${program}` : `${program} ${shellWord(path)}`} | ${svc} import ${format} - …`
  if (begins(start, 0, gzip)) return `is compressed with gzip: write \`${piped('zcat')}\``
  if (begins(start, 0, zstd)) return `is compressed with zstd: write \`${piped('zstdcat')}\``
  if (format !== 'otel') return null
  if (begins(start, lengthBytes, zstd))
    return 'has messages that are compressed one by one, which no program decompresses: remove `compression` from the file exporter, and export again'
  const isMessage =
    length > lengthBytes && start.readUInt32BE(0) <= length - lengthBytes && start[lengthBytes] === firstField
  const isProtobuf = isMessage && start[0] !== firstField
  return isProtobuf || (start[0] === firstField && hasControls(start))
    ? 'is protobuf, not JSON: set `format: json` in the file exporter, and export again'
    : null
}

/** Text has no control characters but white space. */
function hasControls(start: Buffer): boolean {
  return start.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)
}

function begins(start: Buffer, at: number, sign: Buffer): boolean {
  return start.subarray(at, at + sign.length).equals(sign)
}

/** The first bytes, filled up with spaces, and how many bytes the file has. */
function firstBytes(path: string): [Buffer, number] {
  const file = openSync(path, 'r')
  const start = Buffer.alloc(64, 0x20)
  try {
    readSync(file, start, 0, start.length, 0)
    return [start, fstatSync(file).size]
  } finally {
    closeSync(file)
  }
}
