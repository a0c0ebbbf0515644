// The attack matrix: each attack is done, and each kind of auditor must make of it what is stated.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { judged, layers } from '../../proof/attacks/attack.js'
import { attacks } from '../../proof/attacks/demo.js'
import { newWorld } from '../../proof/attacks/world.js'
import { runSvc } from '../support/svc.js'

describe('an attack', () => {
  it.each(attacks.map((attack) => [attack.name, attack] as const))('by which somebody would %s', async (_, attack) => {
    const result = await judged(attack, newWorld())
    expect(Object.fromEntries(layers.map((layer) => [layer, result[layer].outcome]))).toEqual(attack.expected)
  })

  it('that does nothing is not found', async () => {
    const expected = { chain: 'not found', checkpoints: 'not found', witness: 'not found' } as const
    const control = { name: '', what: '', with: 'the database', expected, act: () => undefined } as const
    const result = await judged(control, newWorld())
    expect(layers.flatMap((layer) => result[layer].codes)).toEqual([])
  })

  it('is shown to whoever asks for it, and written down', async () => {
    const { code, stdout } = await runSvc(['attack-demo'])
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${attacks.length} attacks, ${attacks.length} as stated`),
    ])
    const table = readFileSync(new URL('../../docs/attacks.md', import.meta.url), 'utf8')
    for (const { name } of attacks) expect(table).toContain(`| **${name}**:`)
  })
})
