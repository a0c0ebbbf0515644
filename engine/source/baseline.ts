// The bundled baseline as a source. It is parsed and checked at build time, so that the start does not wait for that.
import { baseline } from '@svc/library/baseline'
import { baselineManifest } from './baseline-manifest.js'
import { loadVersions } from './load.js'
import type { PolicySource } from './source.js'
import { noRemarks, type Version } from './versions.js'

export function baselineVersion(): Version {
  const { path, text, blob_sha } = baseline()
  const file = { source: 'baseline', path, text, sha: blob_sha, named: true } as const
  const rejected = { policies: [], others: [], whole: false }
  return { file, value: baselineManifest, rejected, valid: true, errors: [], warnings: [] }
}

/** Never changes. */
export function baselineSource(agent_key: string | null, clock: () => number): PolicySource {
  const current = loadVersions('baseline', [baselineVersion()], noRemarks, agent_key, clock())
  return { current: () => current, reload: async () => current, close: async () => undefined }
}
