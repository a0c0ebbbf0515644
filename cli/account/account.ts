// `svc account`: what a person does with their own account.
import type { Command } from 'commander'
import { type Act, deskCommand } from './desk.js'

export function accountCommand(): Command {
  return deskCommand('account', 'your own account', acts, 'svc account end mia@example.org')
}

const acts: readonly Act[] = [
  {
    call: 'end <email>',
    does: 'end your account, confirmed by its address: you leave every workspace, and your address is erased',
    run: async ({ remove, forget }, [email]) => {
      await remove('/auth/me', { email })
      forget()
      return { lines: ['your account has ended'], json: { done: true } }
    },
  },
]
