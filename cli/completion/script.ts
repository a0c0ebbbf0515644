// The script of a shell for all commands.
import { rules } from '@svc/engine'
import { findingKinds } from '@svc/engine/parts'
import type { Command } from 'commander'
import { formatNames } from '../import/reading/formats.js'
import { bashScript } from './bash.js'
import { fishScript } from './fish.js'
import { type KnownWords, wordsOf } from './words.js'
import { zshScript } from './zsh.js'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** The script for a command with all its subcommands. */
export function scriptFor(shell: keyof typeof scripts, program: Command): string {
  const known: KnownWords = {
    rule: rules.map(({ name }) => name),
    'findings id': findingKinds.map(({ id }) => id),
    'import format': formatNames,
  }
  return scripts[shell](wordsOf(program, known))
}
