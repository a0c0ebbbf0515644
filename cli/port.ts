import { InvalidArgumentError } from 'commander'

/** A port of a command line. */
export function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('give a number from 0 to 65535')
}
