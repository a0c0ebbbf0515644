// The manifests of both sides by path.
import { parseManifest } from '@svc/engine'
import type { DiffFile } from '@svc/engine/parts'
import type { Manifest } from '@svc/schemas'
import { InputError, UsageError } from '../../errors.js'
import type { Side, SideFile } from './side-file.js'

/** An error in a manifest, which is not compared. */
export interface UnreadablePart {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

export interface Pairs {
  readonly files: readonly DiffFile[]
  readonly unreadable: readonly UnreadablePart[]
}

/** Two files are one pair; the files of folders are paired by their paths. Throws UsageError or InputError. */
export function pairSides(old: Side, next: Side): Pairs {
  if (old.kind !== next.kind)
    throw new UsageError(`\`${old.given}\` is a ${old.kind} and \`${next.given}\` a ${next.kind}: give two of one kind`)
  const before = new Map(old.files.map((file) => [keyOf(old, file), file]))
  const after = new Map(next.files.map((file) => [keyOf(next, file), file]))
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort()
  if (keys.length === 0) throw new InputError(`neither \`${old.given}\` nor \`${next.given}\` has a manifest`)
  const unreadable: UnreadablePart[] = []
  const files = keys.flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)]
    const parts = [read(was), read(is)] as const
    const errors = parts.flatMap((part) => part.errors)
    unreadable.push(...errors)
    if (errors.length > 0) return []
    const aliases = [was, is].flatMap((file) => (file === undefined ? [] : [file.alias]))
    return [{ path: is?.path ?? was?.path ?? key, aliases, old: parts[0].value, next: parts[1].value }]
  })
  return { files, unreadable }
}

/** Two files have one key, whatever their names. */
function keyOf({ kind }: Side, { path }: SideFile): string {
  return kind === 'file' ? '' : path
}

/** The manifest; null where the side has no such file. A manifest with errors has no value: an invalid policy would look removed. */
function read(file: SideFile | undefined): { value: Manifest | null; errors: readonly UnreadablePart[] } {
  if (file === undefined) return { value: null, errors: [] }
  const { value, errors } = parseManifest(file.text, file.shown)
  return {
    value,
    errors: errors.map(({ file: name, line, column, message }) => ({ file: name, line, column, message })),
  }
}
