// The check run of a merged commit, from the database of a real platform.
import { afterAll, describe, expect, it } from 'vitest'
import { inForceContent } from '../../app/check/after-merge.js'
import { readConfig } from '../../platform/config.js'
import { openDatabase, withSnapshot, withUnscopedTransaction } from '../../platform/db/db.js'
import { scopeOf } from '../../platform/db/scope.js'
import { inForceAfter } from '../../platform/git/in-force.js'
import { type ManifestsInGit, openManifestsInGit, refunds } from '../support/git/manifests-in-git.js'

const opened: ManifestsInGit[] = []
afterAll(async () => {
  for (const git of opened) await git.close()
})

const small = { name: 'Refunds stay small', severity: 'critical' }
const [one, two, three] = [{ name: 'one' }, { name: 'two' }, { name: 'three' }]

describe('a merged commit', () => {
  it('is reported with who has it, who has not, and what to run', async () => {
    const git = await openManifestsInGit()
    opened.push(git)
    const { id, repository } = await git.connect({
      'a.yaml': refunds([one, two, three]),
      'b.yaml': refunds([small, one, two, three]),
      'c.yaml': refunds([one]),
      'd.yaml': refunds([one]),
    })
    for (const path of ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml']) {
      const { agent_id } = await git.register({ name: `Agent of ${path} @mia` })
      await git.assign(agent_id, id, { manifest_path: path })
    }
    const head = repository.commit({
      'a.yaml': refunds([one, two, three, { name: 'four' }]),
      'b.yaml': refunds([one, two, three]),
      'c.yaml': 'policies: [',
      'd.yaml': refunds([one]),
    })
    await git.tick(id)
    const commit = repository.git('rev-parse', 'main').trim() || head
    await git.platform.close()
    const db = await openDatabase(readConfig(git.platform.env).value)
    try {
      const [row] = await withUnscopedTransaction(db, (tx) =>
        tx.query<{ org_id: string }>('select org_id from repositories where id = $1', [id]),
      )
      const scope = scopeOf(row?.org_id ?? '', { kind: 'system', id: 'test' })
      const report = await inForceAfter((work) => withSnapshot(db, scope, work), scope, id, commit)
      expect(report.counts).toEqual({ kept: 2, changed: 1, unchanged: 1 })
      expect(report.listed.map(({ kind, manifest_path }) => `${kind} ${manifest_path}`)).toEqual([
        'kept b.yaml',
        'kept c.yaml',
        'changed a.yaml',
        'unchanged d.yaml',
      ])
      const { conclusion, title, summary } = inForceContent(report)
      expect(`${conclusion}: ${title}`).toBe(
        'action_required: Held: 1 assignment has the new version, 1 waits for an approval, 1 keeps another version and 1 is not touched by this commit',
      )
      expect(summary).toContain('an operator runs `svc approve-resync ')
      expect(summary).toContain('added four')
      expect(summary).toContain('cannot be used, and its last valid version stays in force')
      expect(summary).not.toContain('@mia')
    } finally {
      await db.close()
    }
  })
})
