// Commands that need a login: each calls the platform and prints the result, for people or for programs.
import { errorText, jsonText, printable } from '@svc/proof'
import { Argument, Command, Option } from 'commander'
import { spelled } from '../called-as.js'
import { UsageError } from '../errors.js'
import type { Terminal } from '../terminal.js'
import type { Client } from './client.js'

export interface Output {
  /** For people; each line is made printable. */
  readonly lines: readonly string[]
  /** For programs. */
  readonly json: unknown
  /** The command has an answer, and what it was called for is not reached: exit code 1. */
  readonly isUnreached?: boolean
}

export interface Subcommand {
  /** As commander writes arguments: `invite <email>`. */
  readonly call: string
  readonly description: string
  readonly options?: readonly (readonly [flags: string, description: string, fallback?: string])[]
  /** Options that can be given several times. */
  readonly lists?: readonly (readonly [flags: string, description: string])[]
  /** The names of the options that must be given. */
  readonly required?: readonly string[]
  /** The values that an argument or option accepts, by its name. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  readonly run: (
    client: Client,
    args: readonly string[],
    options: Readonly<Record<string, string>>,
    lists: Readonly<Record<string, readonly string[]>>,
  ) => Promise<Output>
  /** The work of a call that needs no login; null for one that does. */
  readonly offline?: (
    options: Readonly<Record<string, string>>,
    lists: Readonly<Record<string, readonly string[]>>,
  ) => Promise<Output> | null
}

export interface CommandGroup {
  readonly name: string
  readonly description: string
  readonly subcommands: readonly Subcommand[]
  /** The examples, without `svc`. */
  readonly examples: readonly string[]
}

/** A command with subcommands. */
export function groupCommand(terminal: Terminal, { name, description, subcommands, examples }: CommandGroup): Command {
  const { svc } = terminal
  const command = new Command(name).description(description)
  for (const subcommand of subcommands) command.addCommand(memberCommand(terminal, subcommand))
  return command.addHelpText('after', helpEnd(svc, examples))
}

/** The subcommand as a command of commander. */
export function memberCommand(terminal: Terminal, subcommand: Subcommand, examples: readonly string[] = []): Command {
  const { svc } = terminal
  const { call, description, options = [], lists = [], required = [], choices = {}, run, offline } = subcommand
  const [name = '', ...words] = call.split(' ')
  const command = new Command(name).description(description).option('--json', 'print JSON')
  command.addHelpText('after', helpEnd(svc, examples))
  for (const word of words) {
    const argument = new Argument(word)
    const allowed = choices[argument.name()]
    command.addArgument(allowed === undefined ? argument : argument.choices(allowed))
  }
  for (const [flags, text, fallback] of options) {
    const option = new Option(flags, text).default(fallback)
    option.makeOptionMandatory(required.includes(option.name()))
    const allowed = choices[option.name()]
    command.addOption(allowed === undefined ? option : option.choices(allowed))
  }
  for (const [flags, text] of lists)
    command.option(flags, `${text}; repeatable`, (value, list: string[] = []) => [...list, value])
  return command.action(async (...given: unknown[]) => {
    const args = given.slice(0, words.length).filter((one) => typeof one === 'string')
    const { json, ...chosen } = given[words.length] as Record<string, unknown>
    const [texts, listed] = apart(chosen)
    const work = async () => {
      const { openClient } = await import('./client.js')
      return run(await openClient(terminal), args, texts, listed)
    }
    await print(terminal, () => offline?.(texts, listed) ?? work(), json !== undefined)
  })
}

/** Commands outside of a group, each with its examples. */
export function memberCommands(
  subcommands: readonly (Subcommand & { readonly examples: readonly string[] })[],
): readonly ((terminal: Terminal) => Command)[] {
  return subcommands.map((subcommand) => (terminal) => memberCommand(terminal, subcommand, subcommand.examples))
}

/** Options with one value, which is `true` for a flag, and those that can be given several times. */
function apart(chosen: Readonly<Record<string, unknown>>) {
  const isList = ([, value]: [string, unknown]) => Array.isArray(value)
  const given = Object.entries(chosen)
  return [
    Object.fromEntries(given.filter((one) => !isList(one))) as Record<string, string>,
    Object.fromEntries(given.filter(isList)) as Record<string, string[]>,
  ] as const
}

function helpEnd(svc: string, examples: readonly string[]): string {
  const heading = examples.length === 1 ? 'Example' : 'Examples'
  const lines = examples.map((example) => `  ${svc} ${example}\n`).join('')
  const shown = lines === '' ? '' : `\n${heading}:\n${lines}`
  return `${shown}\nNeeds a login: ${svc} login\n\nExit codes: 0 done, 1 not possible, 2 usage`
}

async function print(
  { svc, stdout, stderr, exit }: Terminal,
  work: () => Promise<Output>,
  isJson: boolean,
): Promise<void> {
  try {
    const { lines, json, isUnreached = false } = await work()
    const text = lines.map((line) => `${printable(spelled(svc, line))}\n`).join('')
    stdout.write(isJson ? `${jsonText(json)}\n` : text)
    if (isUnreached) exit(1)
  } catch (error) {
    stderr.write(`${spelled(svc, errorText(error))}\n`)
    exit(error instanceof UsageError ? 2 : 1)
  }
}

/** The address of the current workspace. */
export function workspacePath({ workspace }: Client): string {
  return `/auth/workspaces/${workspace().org_id}`
}

/** The output of a change that returns nothing. */
export function done(line: string): Output {
  return { lines: [line], json: { done: true } }
}
