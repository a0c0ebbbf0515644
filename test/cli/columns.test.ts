// Tables of manifests in Git: hostile names, long values, commands that can be copied.
import { describe, expect, it } from 'vitest'
import { indented, rowsWithNotes } from '../../cli/git/columns.js'

const columns = [
  { heading: 'ID', width: 3 },
  { heading: 'PATH', width: 9 },
]

describe('a table', () => {
  it('cuts long values in the middle, and shows no control character', () => {
    const row = { cells: ['1', 'a/very/long/path.yaml'], notes: [] }
    const hostile = { cells: ['2', '\u001b[31m\n'], notes: ['evil\u001b[2J\u202e'] }
    expect(rowsWithNotes('svc', columns, [row, hostile])).toEqual([
      'ID  PATH',
      '1   a/ve…yaml',
      '2   �[31m�',
      '    evil�[2J�',
    ])
  })

  it('keeps a command on one line, as it is called here', () => {
    const lines = indented('npx --no-install svc', `${'word '.repeat(18)}: run \`svc resync 4\``)
    expect(lines.at(-1)).toBe('    `npx --no-install svc resync 4`')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  })
})
