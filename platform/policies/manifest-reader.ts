// Manifests as parsed, cached by their content: one version is put on many agents.
import { type ManifestReading, parseManifest } from '@svc/engine'

/** A version of a manifest: its path, Git's id of its content, and the content. */
export interface ManifestFile {
  readonly path: string
  readonly blob_sha: string
  readonly text: string
}

export interface ManifestReader {
  readonly read: (file: ManifestFile) => Pick<ManifestReading, 'value' | 'errors'>
}

/** Keeps the `limit` most recently used manifests. */
export function createManifestReader(limit: number): ManifestReader {
  const known = new Map<string, Pick<ManifestReading, 'value' | 'errors'>>()
  return {
    read: ({ path, blob_sha, text }) => {
      const key = `${blob_sha} ${path}`
      const { value, errors } = known.get(key) ?? parseManifest(text, path)
      known.delete(key)
      known.set(key, { value, errors })
      const [oldest] = known.keys()
      if (known.size > limit && oldest !== undefined) known.delete(oldest)
      return { value, errors }
    },
  }
}
