// The content of a side of a comparison, of a folder, a file or a commit.

export interface SideFile {
  /** Relative to the folder; the name of a file that was given itself. */
  readonly path: string
  /** As inventories name it: from the current folder, or from the root of the repository. */
  readonly alias: string
  /** As messages name it. */
  readonly shown: string
  readonly text: string
}

export interface Side {
  readonly given: string
  readonly kind: 'file' | 'folder'
  readonly files: readonly SideFile[]
}
