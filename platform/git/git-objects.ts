// Git's names for objects: SHA-1 of a header and the bytes.
import { createHash } from 'node:crypto'

interface Leaf {
  readonly path: string
  readonly blob_sha: string
}

/** The name of the tree that holds these ordinary files (mode 100644), folders included. */
export function treeSha(files: readonly Leaf[]): string {
  const leaves = files.filter(({ path }) => !path.includes('/'))
  const folders = new Map<string, Leaf[]>()
  for (const { path, blob_sha } of files) {
    const [folder = '', ...rest] = path.split('/')
    if (rest.length > 0) folders.set(folder, [...(folders.get(folder) ?? []), { path: rest.join('/'), blob_sha }])
  }
  const entries = [
    ...leaves.map(({ path, blob_sha }) => ({ mode: '100644', name: path, order: path, sha: blob_sha })),
    ...[...folders].map(([name, inner]) => ({ mode: '40000', name, order: `${name}/`, sha: treeSha(inner) })),
  ]
  // Git compares bytes, and a folder as if its name ended with a slash.
  const sorted = entries.sort((a, b) => Buffer.compare(Buffer.from(a.order), Buffer.from(b.order)))
  const bytes = sorted.flatMap(({ mode, name, sha }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, 'hex')])
  return objectSha('tree', Buffer.concat(bytes))
}

/** The name of an object of this kind. */
export function objectSha(kind: string, bytes: Uint8Array): string {
  return createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}
