// Commands of somebody who has logged in: each asks the platform and tells what came of it, to people or to programs.
import type { Account, MemberList, Workspace } from '@svc/schemas'
import { Command } from 'commander'
import { printable } from './printable.js'

export interface Desk {
  readonly account: Account
  /** Where they work now. Throws where that is nowhere. */
  readonly here: () => Workspace
  readonly get: <T>(path: string) => Promise<T>
  readonly post: <T>(path: string, body?: object) => Promise<T>
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
  readonly run: (desk: Desk, args: readonly string[], options: Readonly<Record<string, string>>) => Promise<Told>
}

/** A command with a subcommand for each act. */
export function deskCommand(name: string, description: string, acts: readonly Act[], example: string): Command {
  const command = new Command(name).description(description)
  command.addHelpText('after', `\nExample:\n  ${example}\n\nExit codes: 0 done, 1 not possible, 2 usage`)
  for (const { call, does, options = [], run } of acts) {
    const own = new Command(call.split(' ')[0]).description(does).option('--json', 'print JSON')
    const words = call.split(' ').slice(1)
    for (const word of words) own.argument(word)
    for (const [flags, text, fallback] of options) own.option(flags, text, fallback)
    own.action(async (...given: unknown[]) => {
      const args = given.slice(0, words.length).filter((one) => typeof one === 'string')
      const { json, ...chosen } = given[words.length] as Record<string, string>
      await told(async () => run(await openDesk(), args, chosen), json !== undefined)
    })
    command.addCommand(own.exitOverride())
  }
  return command
}

async function told(work: () => Promise<Told>, isJson: boolean): Promise<void> {
  try {
    const { lines, json } = await work()
    process.stdout.write(
      isJson ? `${JSON.stringify(json, null, 2)}\n` : lines.map((line) => `${printable(line)}\n`).join(''),
    )
  } catch (error) {
    process.stderr.write(`svc: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}

async function openDesk(): Promise<Desk> {
  const { accountOf, ask, liveSession, refusal } = await import('./session.js')
  const { sessionPath } = await import('./session-file.js')
  const session = await liveSession(sessionPath(process.env, process.platform), Date.now)
  const account = session === null ? null : await accountOf(session)
  if (session === null || account === null) throw new Error('nobody is logged in: run svc login')
  const call = async <T>(path: string, body: unknown) => {
    const { status, body: answer, code } = await ask(session.url, path, body, session.access_token)
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
  return { account, here, memberOf, get: (path) => call(path, null), post: (path, body = {}) => call(path, body) }
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
