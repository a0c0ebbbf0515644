// Checkpoints with the signatures of witnesses.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseNote, parseVerifier, verifySignature } from '@svc/proof'
import { describe, expect, it, vi } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { startWitness } from '../../support/log/witness.js'
import { discard, startPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('witnesses', () => {
  if (postgres === null) return
  it('sign a log while it grows, but not a shortened one that its own key signed', async () => {
    const url = postgres.freshDatabase()
    let platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    const { key } = await checkpointOf(platform, 0)
    await platform.close()
    const folder = mkdtempSync(join(tmpdir(), 'svc-witness-'))
    const witness = await startWitness(folder, [key])
    const env = { ...fast, SVC_WITNESSES: `${witness.url}#${witness.key} http://127.0.0.1:1#${witness.key}` }
    const restarted = () => startPlatform({ database_url: url, data_dir: platform.data_dir, env })
    platform = await restarted()
    const cosigned = async (steps: number) => {
      const { note } = await checkpointOf(platform, steps)
      const [read, verifier] = [parseNote(note), parseVerifier(witness.key)]
      if (read === null || verifier === null) throw new Error('not a note')
      return read.signatures.filter((signature) => verifySignature(read.text, signature, verifier) !== null).length
    }
    const signs = (steps: number) => vi.waitFor(async () => expect(await cosigned(steps)).toBe(1), soon)
    await logSteps(platform, 'one', 300)
    await signs(300)
    await logSteps(platform, 'two', 20)
    await signs(320)
    await platform.close()

    // An attacker with the database and the signer's folder deletes an entry and signs the rest with the key.
    postgres.psql(
      url,
      `begin; delete from log_leaves where log_index >= ${begun + 319}; delete from log_entries where log_index >= ${begun + 319};
      delete from checkpoints; delete from log_tiles; update task_heads set seq = 19 where task_id = 'two';
      update org_log set size = size - 1, checkpoint_size = 0, checkpoint_root = encode(sha256(''), 'hex'); commit`,
    )
    rmSync(join(platform.data_dir, 'log', 'signed'), { recursive: true })
    platform = await restarted()
    await checkpointOf(platform, 319)
    await logSteps(platform, 'three', 5)
    await checkpointOf(platform, 324)
    await logSteps(platform, 'four', 1)
    await checkpointOf(platform, 325)
    expect(await cosigned(325)).toBe(0)
    await discard(platform)
    await witness.stop()
    rmSync(folder, { recursive: true })
  })

  it('are rejected in an invalid form', async () => {
    await expect(startPlatform({ env: { SVC_WITNESSES: 'http://127.0.0.1:1' } })).rejects.toThrow('write `URL#KEY`')
  })
})
