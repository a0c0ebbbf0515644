// Commands of somebody who has logged in: each asks the platform and tells what came of it, to people or to programs.

import { errorText, jsonText, printable } from '@svc/proof'
import { type Account, type MemberList, parseTimestamp, type Workspace } from '@svc/schemas'
import { Argument, Command, Option } from 'commander'

export interface Desk {
  readonly account: Account
  /** Where they work now. Throws where that is nowhere. */
  readonly here: () => Workspace
  readonly get: <T>(path: string) => Promise<T>
  readonly post: <T>(path: string, body?: object) => Promise<T>
  readonly remove: (path: string, body: object) => Promise<void>
  /** Forgets the session, which has ended. */
  readonly forget: () => void
  /** Downloads into a file. */
  readonly save: (path: string, file: string) => Promise<void>
  /** The id of the member with this address. Rejects where there is none. */
  readonly memberOf: (email: string) => Promise<string>
}

export interface Told {
  /** For people; what others have named is made printable. */
  readonly lines: readonly string[]
  /** For programs. */
  readonly json: unknown
}

export interface Act {
  /** As commander writes arguments: `invite <email>`. */
  readonly call: string
  readonly does: string
  readonly options?: readonly (readonly [flags: string, description: string, fallback?: string])[]
  /** What an argument or option may be, by its name. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  readonly run: (desk: Desk, args: readonly string[], options: Readonly<Record<string, string>>) => Promise<Told>
}

const exits = 'Exit codes: 0 done, 1 not possible, 2 usage'

/** A command with a subcommand for each act. */
export function deskCommand(name: string, description: string, acts: readonly Act[], example: string): Command {
  const command = new Command(name).description(description)
  for (const act of acts) command.addCommand(actCommand(act).exitOverride())
  return command.addHelpText('after', `\nExample:\n  ${example}\n\n${exits}`)
}

/** The act as a command. */
export function actCommand({ call, does, options = [], choices = {}, run }: Act, example?: string): Command {
  const [name = '', ...words] = call.split(' ')
  const command = new Command(name).description(does).option('--json', 'print JSON')
  if (example !== undefined) command.addHelpText('after', `\nExample:\n  ${example}\n\n${exits}`)
  for (const word of words) {
    const argument = new Argument(word)
    const allowed = choices[argument.name()]
    command.addArgument(allowed === undefined ? argument : argument.choices(allowed))
  }
  for (const [flags, text, fallback] of options) {
    const option = new Option(flags, text).default(fallback)
    const allowed = choices[option.name()]
    command.addOption(allowed === undefined ? option : option.choices(allowed))
  }
  return command.action(async (...given: unknown[]) => {
    const args = given.slice(0, words.length).filter((one) => typeof one === 'string')
    const { json, ...chosen } = given[words.length] as Record<string, string>
    await told(async () => run(await openDesk(), args, chosen), json !== undefined)
  })
}

async function told(work: () => Promise<Told>, isJson: boolean): Promise<void> {
  try {
    const { lines, json } = await work()
    process.stdout.write(isJson ? `${jsonText(json)}\n` : lines.map((line) => `${printable(line)}\n`).join(''))
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n`)
    process.exitCode = 1
  }
}

async function openDesk(): Promise<Desk> {
  const { accountOf, ask, download, liveSession, refusal } = await import('./session.js')
  const { forgetSession, sessionPath } = await import('./session-file.js')
  const file = sessionPath(process.env, process.platform)
  const session = await liveSession(file, Date.now)
  if (session === null) throw new Error('nobody is logged in: run svc login')
  const account = await accountOf(session)
  if (account === null) throw new Error('the session has ended: run svc login')
  if ((account as Partial<Account>).workspaces === undefined)
    throw new Error(`${session.url} does not publish the workspaces of an account: it is an older platform`)
  const call = async <T>(path: string, body: unknown, method?: string) => {
    const { status, body: answer, code } = await ask(session.url, path, body, session.access_token, method)
    if (code !== null) throw refusal(status, answer)
    return answer as T
  }
  const here = () => {
    const found = account.workspaces.find(({ org_id }) => org_id === account.current_workspace)
    if (found === undefined) throw new Error('you work in no workspace: choose one with svc workspace use')
    return found
  }
  const memberOf = async (email: string) => {
    const { members } = await call<MemberList>(`/auth/workspaces/${here().org_id}/members`, null)
    const member = members.find((one) => one.email === email.trim().toLowerCase())
    if (member === undefined)
      throw new Error(`no member of ${printable(here().name)} has the address ${printable(email)}`)
    return member.person_id
  }
  const save = (path: string, file: string) => download(session, path, file)
  return {
    account,
    here,
    memberOf,
    save,
    get: (path) => call(path, null),
    post: (path, body = {}) => call(path, body),
    remove: (path, body) => call(path, body, 'DELETE'),
    forget: () => forgetSession(file),
  }
}

/** What an option says of a time; a day is its first moment in UTC. */
export function timeOf(option: string, text: string | undefined): string | undefined {
  const time = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  if (time === undefined || parseTimestamp(time) !== null) return time
  throw new Error(`${option} takes a day, such as 2026-01-01, or a time with its zone, such as 2026-01-01T09:00:00Z`)
}

/** Rows with their columns in line. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
