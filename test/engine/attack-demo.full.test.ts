// The attack matrix, as a person sees it.
import { expect, it } from 'vitest'
import { attacks } from '../../proof/attacks/demo.js'
import { runSvc } from '../support/svc.js'

it('svc attack-demo shows every attack, each as stated', async () => {
  const { code, stdout } = await runSvc(['attack-demo'])
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${attacks.length} attacks, ${attacks.length} as stated`)])
})
