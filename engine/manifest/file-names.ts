// Tells manifests and their tests among the files of a folder by their names.

/** True for the name of a YAML file, in any case of letters. */
export function isYamlFile(path: string): boolean {
  return /\.ya?ml$/i.test(path)
}

/** True for the name of a file of tests, such as `refunds.test.yaml`. */
export function isTestFile(path: string): boolean {
  return /\.test\.ya?ml$/i.test(path)
}

/**
 * True for the name of a file or folder that readers of folders leave out: dot-files and dot-folders, and packages that a workflow has
 * installed, which may hold manifests of their own.
 */
export function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/** True if readers of a folder read the file; `path` is relative to the folder, with `/`. */
export function isYamlInFolder(path: string): boolean {
  return isYamlFile(path) && !path.split('/').some(isLeftOut)
}

/** True if the file of a folder can be a manifest: a YAML file that is read, and no tests. Its text says whether it is one. */
export function isManifestInFolder(path: string): boolean {
  return isYamlInFolder(path) && !isTestFile(path)
}

/** The path without the ending of a YAML file. */
export function withoutYamlEnding(path: string): string {
  return path.replace(/\.ya?ml$/i, '')
}

/** The manifests that a file of tests can be for: the same name without `.test`. */
export function manifestsOfTestFile(path: string): readonly [string, string] {
  const stem = path.replace(/\.test\.ya?ml$/i, '')
  return [`${stem}.yaml`, `${stem}.yml`]
}

/** The files of tests that a manifest can have beside it. */
export function testFilesOf(path: string): readonly [string, string] {
  const stem = withoutYamlEnding(path)
  return [`${stem}.test.yaml`, `${stem}.test.yml`]
}
