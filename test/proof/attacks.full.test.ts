// The attack matrix: every attack has the expected result for every kind of auditor.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Attack, layers, runAttack } from '../../proof/attacks/attack.js'
import { attacks } from '../../proof/attacks/demo.js'
import { newWorld } from '../../proof/attacks/world.js'
import { runSvc } from '../support/cli/svc.js'

describe('the attack', () => {
  it.each(attacks.map((attack) => [attack.name, attack] as const))('%s has the expected results', async (_, attack) => {
    const result = await runAttack(attack, newWorld())
    expect(Object.fromEntries(layers.map((layer) => [layer, result[layer].outcome]))).toEqual(attack.expected)
  })

  it('that changes nothing is not found', async () => {
    const expected = { chain: 'not found', checkpoints: 'not found', witness: 'not found' } as const
    const control: Attack = { name: '', description: '', access: 'the database', expected, run: () => undefined }
    const result = await runAttack(control, newWorld())
    expect(layers.flatMap((layer) => result[layer].codes)).toEqual([])
  })

  it('is part of svc attack-demo and of docs/attacks.md', async () => {
    const { code, stdout } = await runSvc(['attack-demo'])
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${attacks.length} attacks, ${attacks.length} as expected`),
    ])
    const table = readFileSync(new URL('../../docs/attacks.md', import.meta.url), 'utf8')
    for (const { name } of attacks) expect(table).toContain(`| **${name}**:`)
  })
})
