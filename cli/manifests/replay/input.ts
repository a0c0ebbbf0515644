// The manifests and the agent of a replay.
import { parseManifest, readPolicyFiles } from '@svc/engine'
import { isManifest, type ReplayManifest, readYaml } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import { fileError, readText } from '@svc/proof/verify'
import type { JsonMap } from '@svc/schemas'
import { InputError } from '../../errors.js'

/** The name of the bundled baseline among the paths. */
export const baselineWord = 'baseline'

export interface ReadManifest extends ReplayManifest {
  readonly text: string
}

/** The manifests at the paths, in order. Rejects with InputError for one that is not valid. */
export async function readManifests(paths: readonly string[]): Promise<ReadManifest[]> {
  const manifests: ReadManifest[] = []
  for (const path of new Set(paths)) {
    if (path === baselineWord) manifests.push(await bundled())
    else manifests.push(...(await readAt(path)))
  }
  return manifests
}

async function bundled(): Promise<ReadManifest> {
  const { baselineManifest } = await import('@svc/engine/baseline')
  return { manifest: baselineManifest, file: baselineWord, lines: [], text: JSON.stringify(baselineManifest) }
}

async function readAt(path: string): Promise<ReadManifest[]> {
  const files = await readPolicyFiles([path], (error) => {
    throw fileError(path, error)
  })
  const found = files.filter(isManifest).map(manifestIn)
  if (found.length === 0)
    throw new InputError(`\`${path}\` has no manifest: a manifest is a .yaml or .yml file with \`policies\``)
  return found
}

function manifestIn({ path: file, text }: { readonly path: string; readonly text: string }): ReadManifest {
  const { value: manifest, errors, lines } = parseManifest(text, file)
  if (manifest !== null && errors.length === 0) return { manifest, file, lines, text }
  const shown = errors.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
  throw new InputError(
    [`\`${file}\` is not valid, and half of a manifest would give a wrong picture`, ...shown].join('\n'),
  )
}

/** The fields of an agent. Throws InputError for another file. */
export function readAgent(path: string): JsonMap {
  const { value, problems } = readYaml(readText(path))
  const [problem] = problems
  if (problem !== undefined) throw new InputError(`${path}:${problem.line}:${problem.column}: ${problem.message}`)
  if (!isMap(value)) throw new InputError(`\`${path}\` must be a map of the fields of an agent`)
  return value
}
