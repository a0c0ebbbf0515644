// Which files of a repository can be manifests.
import { describe, expect, it } from 'vitest'
import { manifestText } from '../../../../platform/git/source/manifest-text.js'

const entry = { path: 'a.yaml', blob_sha: 'a'.repeat(40), mode: '100644', size: 1 }
const lfs = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'

describe('a file', () => {
  it.each([
    ['text', 'name: ü\n', 'name: ü\n'],
    ['a byte order mark', '\ufeffname: a\n', 'name: a\n'],
    ['nothing', '', ''],
    ['256 KiB', 'x'.repeat(256 * 1024), 'x'.repeat(256 * 1024)],
    ['the words of a pointer further down', `# a\n${lfs}`, `# a\n${lfs}`],
  ])('with %s is read', (_, bytes, text) => {
    for (const mode of ['100644', '100755'])
      expect(manifestText({ ...entry, mode }, Buffer.from(bytes))).toEqual({ text })
  })

  it.each([
    ['a symbolic link', { mode: '120000' }, 'target', 'is a symbolic link'],
    ['a submodule', { mode: '160000', size: null }, '', 'is a submodule'],
    ['a folder', { mode: '040000' }, '', 'not an ordinary file'],
    ['a mode that Git does not have', { mode: '100000' }, '', 'not an ordinary file'],
    [
      'a file with a control character in its name',
      { path: 'a\u0007.yaml' },
      'x',
      'the hidden character U+0007 in its name',
    ],
    ['a file with an override of direction in its name', { path: 'a\u202elmay.x.yaml' }, 'x', 'U+202E in its name'],
    ['a large file', {}, 'x'.repeat(256 * 1024 + 1), 'more than 256 KiB'],
    ['a Git LFS pointer', {}, lfs, 'commit the file itself, without LFS'],
    ['a NUL', {}, 'name: a\0b', 'NUL'],
    ['bytes that are not UTF-8', {}, Buffer.from([0x6e, 0xff, 0xfe]), 'not valid UTF-8'],
    ['UTF-16', {}, Buffer.from('\ufeffname: a', 'utf16le'), 'not valid UTF-8'],
    ['a hostile name', { path: 'a\u001b[31m\n.yaml', mode: '120000' }, '', '`a\\u{1b}[31m\\n.yaml` is a symbolic link'],
  ])('that is %s is not', (_, more, bytes, problem) => {
    expect(manifestText({ ...entry, ...more }, Buffer.from(bytes as string))).toEqual({
      problem: expect.stringContaining(problem),
    })
  })
})
