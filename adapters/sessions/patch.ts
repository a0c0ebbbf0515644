// The files of a patch in the form of `apply_patch`: sections that begin with `*** Add File:`, `*** Update File:` or
import type { Verb } from '@svc/engine/parts'
// `*** Delete File:`.

export interface PatchedFile {
  readonly verb: Verb
  readonly path: string
  /** The section of the patch. */
  readonly patch: string
}

const verbs: Readonly<Record<string, Verb>> = { Add: 'POST', Update: 'PATCH', Delete: 'DELETE' }

/** The changes of a patch in its order; a moved file is a change of the old path and a creation at the new one. */
export function filesOfPatch(text: string): PatchedFile[] {
  const files: PatchedFile[] = []
  let lines: string[] = []
  let paths: { verb: Verb; path: string }[] = []
  const close = () => {
    for (const each of paths) files.push({ ...each, patch: lines.join('\n') })
    lines = []
    paths = []
  }
  for (const line of text.split('\n')) {
    const [, kind = '', path = ''] = /^\*\*\* (Add|Update|Delete) File: (.+?)\s*$/.exec(line) ?? []
    const verb = Object.hasOwn(verbs, kind) ? verbs[kind] : undefined
    const [, target] = /^\*\*\* Move to: (.+?)\s*$/.exec(line) ?? []
    if (verb !== undefined) {
      close()
      paths.push({ verb, path })
    } else if (target !== undefined && paths.length === 1) paths.push({ verb: 'POST', path: target })
    else if (/^\*\*\* (?:Begin|End) Patch\s*$/.test(line)) continue
    if (paths.length > 0) lines.push(line)
  }
  close()
  return files
}
