// The access token of a repository: from a file or the standard input, never from an argument, which other users of a machine see.
import { readFileSync } from 'node:fs'
import { InputError } from '../errors.js'

export const tokenOption = [
  '--token-file <file>',
  'file with the access token of the repository; `-` reads the standard input',
] as const

/** The token in the file, without the line break at its end. Throws InputError. */
export function readToken(file: string): string {
  const name = file === '-' ? 'the standard input' : `\`${file}\``
  const token = textIn(file, name).trim()
  if (token === '') throw new InputError(`${name} is empty: write the access token into it`)
  if (!/^[!-~]{1,4000}$/.test(token))
    throw new InputError(`${name} does not hold a token: write one line of printable characters without spaces`)
  return token
}

function textIn(file: string, name: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new InputError(`${name} cannot be read: ${(error as { code?: string }).code}`)
  }
}
