// The words that can follow `svc` on a command line, read from the commands themselves.
import type { Argument, Command, Option } from 'commander'

/** The values of an option or an argument: these words, the names of files, or anything. */
export type Values = readonly string[] | 'files' | 'any'

export interface OptionWords {
  /** Such as `--name` and `-h`. */
  readonly flags: readonly string[]
  readonly description: string
  /** Null for an option without a value. */
  readonly values: Values | null
}

export interface CommandWords {
  /** The words after `svc`; empty for `svc` itself. */
  readonly path: readonly string[]
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly OptionWords[]
  /** The values of the arguments, in order; a variadic argument takes all that follow. */
  readonly arguments: readonly { readonly values: Values; readonly variadic: boolean }[]
}

/** Words by what a command calls a value, such as `rule` for `--name <rule>`, where a list of them is known. */
export type KnownWords = Readonly<Record<string, readonly string[]>>

/** Names of values that are files or folders. */
const fileNames = /^(file|path|dir|folder|bundle|manifest|old|new|map|traces)$/

/** Every command with its options and arguments, `svc` itself first. */
export function wordsOf(command: Command, known: KnownWords, path: readonly string[] = []): CommandWords[] {
  const inner = command.commands.filter((one) => one.name() !== 'help')
  const own: CommandWords = {
    path,
    commands: inner.map((one) => ({ name: one.name(), description: one.description() })),
    options: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => optionWords(option, known, path)),
    arguments: command.registeredArguments.map((argument) => argumentWords(argument, known, path)),
  }
  return [own, ...inner.flatMap((one) => wordsOf(one, known, [...path, one.name()]))]
}

/** The command as it is written. */
export function nameOf({ path }: CommandWords): string {
  return ['svc', ...path].join(' ')
}

/** The options that take a value, each after the name of its command. */
export function optionsWithValue(command: CommandWords): string[] {
  return command.options
    .filter(({ values }) => values !== null)
    .flatMap(({ flags }) => flags.map((flag) => `${nameOf(command)} ${flag}`))
}

function optionWords(option: Option, known: KnownWords, path: readonly string[]): OptionWords {
  const { long, short, description, argChoices, required, optional, flags } = option
  const name = /[<[]([^>\].]+)/.exec(flags.replace(/^[^<[]*/, ''))?.[1] ?? ''
  const values = argChoices ?? valuesOf(name, known, path)
  return {
    flags: [long, short].flatMap((flag) => flag ?? []),
    description,
    values: required || optional ? values : null,
  }
}

function argumentWords(argument: Argument, known: KnownWords, path: readonly string[]) {
  const { argChoices, variadic } = argument
  return { values: argChoices ?? valuesOf(argument.name(), known, path), variadic }
}

/** A list for a value of one command, such as `findings id`, comes before a list for all commands. */
function valuesOf(name: string, known: KnownWords, path: readonly string[]): Values {
  return known[[...path, name].join(' ')] ?? known[name] ?? (fileNames.test(name) ? 'files' : 'any')
}
