// Tables of manifests in Git: hostile names, long values, commands that can be copied.
import { describe, expect, it } from 'vitest'
import { indented, rowsWithNotes } from '../../cli/account/columns.js'

const columns = [{ heading: 'ID' }, { heading: 'PATH', least: 6 }, { heading: 'KEY', below: true }] as const
const rows = [
  { cells: ['1', 'a/very/long/path.yaml', 'key-1'], notes: ['a note'] },
  { cells: ['2', '\u001b[31m\n', 'key-2'], notes: ['evil\u001b[2J\u202e'] },
]
const on = (width: number | null) => rowsWithNotes({ svc: 'svc', width }, columns, rows)

describe('a table', () => {
  it('has every value in full in a file or a pipe, and no control character', () => {
    expect(on(null)).toEqual([
      'ID  PATH                   KEY',
      '1   a/very/long/path.yaml  key-1',
      '    a note',
      '2   �[31m�                 key-2',
      '    evil�[2J�',
    ])
  })

  it('is the same on a terminal that is wide enough', () => {
    expect(on(32)).toEqual(on(null))
  })

  it('moves a column below its row on a terminal that is too narrow, and cuts others in the middle', () => {
    expect(on(31).slice(0, 3)).toEqual(['ID  PATH', '1   a/very/long/path.yaml', '    key-1'])
    expect(on(13).slice(0, 3)).toEqual(['ID  PATH', '1   a/ve…yaml', '    key-1'])
    expect(on(5)[1]).toBe('1   a/…aml')
  })

  it('keeps a command on one line, as it is called here', () => {
    const lines = indented('npx --no-install svc', `${'word '.repeat(18)}: run \`svc resync 4\``)
    expect(lines.at(-1)).toBe('    `npx --no-install svc resync 4`')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  })
})
