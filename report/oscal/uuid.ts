// Deterministic UUIDs: version 5 of RFC 9562, so that the same report has the same ids.
import { createHash } from 'node:crypto'

/** The namespace for URLs and URNs of RFC 9562, section 6.6. */
const urlNamespace = '6ba7b811-9dad-11d1-80b4-00c04fd430c8'

/** The UUID of a name in a namespace; the same for the same two. */
export function uuid5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** The namespace of our properties and ids. */
export const namespace = 'urn:svc:oscal'

const ownNamespace = uuid5(urlNamespace, namespace)

/** The id of a part of a document: of the document's own id and the path of the part. */
export function partId(document: string, path: string): string {
  return uuid5(ownNamespace, JSON.stringify([document, path]))
}
