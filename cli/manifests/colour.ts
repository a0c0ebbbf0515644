// Colour on a terminal, and nowhere else.
import { styleText } from 'node:util'

export type Colour = 'red' | 'yellow' | 'green' | 'cyan' | 'bold' | 'dim'

/** The text in colour when standard output is a terminal that wants it. */
export function inColour(colour: Colour, text: string): string {
  const wanted = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb'
  return wanted ? styleText(colour, text) : text
}
