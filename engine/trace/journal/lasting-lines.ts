// A file of lines in the data directory that outlives its process: each engine has one in its own folder, and takes over those
// of ended processes.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from '../../files/durable-file.js'
import { type HeldFolder, holdFolder, leftFolders } from './journal-folders.js'

export interface LastingLines {
  readonly own: HeldFolder
  readonly path: string
  /** The whole lines of each file that ended processes left, its own first. */
  readonly left: readonly (readonly string[])[]
  /** Gives the folders of others free. `is_written`: the own file has their lines. */
  readonly release: (is_written: boolean) => void
}

/** Null when every folder of the name is held or cannot be written. Files that cannot be read are reported. */
export function takeLines(
  data_folder: string,
  name: string,
  file_name: string,
  report: (line: string) => void,
): LastingLines | null {
  const own = holdFolder(data_folder, name)
  if (own === null) return null
  const ended = leftFolders(data_folder, name, own.folder)
  return {
    own,
    path: join(own.folder, file_name),
    left: [own, ...ended].map(({ folder }) => linesIn(join(folder, file_name), report)),
    release: (is_written) => {
      for (const { folder, release } of ended) {
        if (is_written) rmSync(join(folder, file_name), { force: true })
        release()
      }
    },
  }
}

/** Without the last line when a crash has cut it off. */
function linesIn(path: string, report: (line: string) => void): readonly string[] {
  try {
    return (readIfThere(path) ?? '').split('\n').slice(0, -1)
  } catch (error) {
    report(`\`${path}\` cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}
