// `svc account`: the caller's own account.
import type { Command } from 'commander'
import type { Terminal } from '../terminal.js'
import { groupCommand, type Subcommand } from './subcommand.js'

export function accountCommand(terminal: Terminal): Command {
  return groupCommand(terminal, {
    name: 'account',
    description: 'manage your own account',
    subcommands,
    examples: ['account end mia@example.org'],
  })
}

const subcommands: readonly Subcommand[] = [
  {
    call: 'end <email>',
    description: 'end your account, confirmed by its address: you leave every workspace, and your address is erased',
    run: async ({ remove, forget }, [email]) => {
      await remove('/auth/me', { email })
      forget()
      return { lines: ['your account has ended'], json: { done: true } }
    },
  },
]
