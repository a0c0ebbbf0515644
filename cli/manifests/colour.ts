// Colours of texts for people.
import { stripVTControlCharacters, styleText } from 'node:util'
import type { Terminal } from '../terminal.js'

export type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'bold' | 'dim'

export function inColour(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false })
}

/** The text as standard output shows it: with its colours on a terminal that wants them. Texts of others hold no control characters. */
export function coloured({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>, text: string): string {
  const wanted = stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  return wanted ? text : stripVTControlCharacters(text)
}
