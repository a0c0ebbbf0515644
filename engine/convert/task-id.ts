// The task id of an imported run.
import { createHash } from 'node:crypto'

// The URL namespace of RFC 9562 §6.6.
const rootNamespace = '6ba7b811-9dad-11d1-80b4-00c04fd430c8'

/** UUIDv5 (RFC 9562 §5.5) of the run in the namespace of its agent, so that a repeated import adds nothing. */
export function taskIdOf(agent_key: string, run_id: string): string {
  return uuid5(uuid5(rootNamespace, agent_key), run_id)
}

function uuid5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x50
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
