// The output of git about the files of a commit, as values. The callers run git.

/** A file of a commit. */
export interface GitFile {
  readonly sha: string
  readonly path: string
}

/** The files that `git ls-tree -r -z` lists; links and submodules are left out. */
export function filesInTree(listed: string): GitFile[] {
  return listed.split('\0').flatMap((line) => {
    const [, sha, path] = /^100\d{3} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
    return sha === undefined || path === undefined ? [] : [{ sha, path }]
  })
}

/** The texts that `git cat-file --batch` prints for `count` blobs, in their order, up to the first one that it does not have. */
export function textsInBatch(batch: Buffer, count: number): string[] {
  const texts: string[] = []
  for (let at = 0; texts.length < count; ) {
    // Each blob has a line with its size in front of its bytes.
    const end = batch.indexOf('\n', at)
    const [, size] = / blob (\d+)$/.exec(batch.toString('latin1', at, Math.max(at, end))) ?? []
    if (size === undefined) break
    texts.push(batch.toString('utf8', end + 1, end + 1 + Number(size)))
    at = end + 1 + Number(size) + 1
  }
  return texts
}
