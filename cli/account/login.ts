// `svc login`, `svc logout` and `svc whoami`.
import type { Account } from '@svc/schemas'
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'
import { defaultUrl } from './platform-url.js'
import type { SessionPlace } from './session-file.js'

export function loginCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('login')
    .description('log in to a platform with a browser, also one on another machine')
    .option('--url <url>', 'address of the platform (or SVC_API_URL)', defaultUrl(terminal.env))
    .addHelpText(
      'after',
      `\nExample:\n  ${svc} login --url https://svc.example.org\n\nExit codes: 0 logged in, 1 not logged in, 2 usage`,
    )
    .action(({ url }: { readonly url: string }) => withExitCode(terminal, (place) => login(url, place, terminal)))
}

export function logoutCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('logout')
    .description('end your session')
    .addHelpText('after', `\nExample:\n  ${svc} logout\n\nExit codes: 0 done, 1 not possible, 2 usage`)
    .action(() => withExitCode(terminal, (place) => logout(place, terminal)))
}

export function whoamiCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('whoami')
    .description('show your account and your current workspace')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${svc} whoami\n\nExit codes: 0 logged in, 1 not logged in, 2 usage`)
    .action(({ json }: { readonly json?: true }) =>
      withExitCode(terminal, (place) => whoami(place, terminal, json === true)),
    )
}

type ExitCode = 0 | 1 | 2

async function login(url: string, { path, now, svc }: SessionPlace, terminal: Terminal): Promise<ExitCode> {
  const { beginLogin, awaitDecision } = await import('./device-flow.js')
  const { fetchAccount } = await import('./session.js')
  const { saveSession } = await import('./session-file.js')
  const { printable } = await import('@svc/proof')
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    const found = `\`--url\` is \`${printable(url)}\``
    terminal.stderr.write(`svc: ${found}, which is not an address: write one such as https://svc.example.org\n`)
    return 2
  }
  const platform = url.replace(/\/+$/, '')
  if (isUnencrypted(platform))
    terminal.stderr.write('svc: warning: the connection is not encrypted: others on the network can read it\n')
  const code = await beginLogin(platform)
  const address = printable(code.verification_uri_complete)
  terminal.stdout.write(
    `open ${address}\ncheck that the page shows ${printable(code.user_code)}, and press "Approve"\n`,
  )
  const session = saveSession(path, platform, await awaitDecision(platform, code), now())
  const account = await fetchAccount(session, svc)
  terminal.stdout.write(`logged in as ${printable(accountText(account, platform, svc))}\n`)
  return 0
}

async function logout(place: SessionPlace, terminal: Terminal): Promise<ExitCode> {
  const { path, svc } = place
  const { currentSession, request } = await import('./session.js')
  const { forgetSession, readSession } = await import('./session-file.js')
  if (readSession(path, svc) === null) {
    terminal.stdout.write('you were not logged in\n')
    return 0
  }
  // A session that cannot be renewed is ended with the token that it has.
  const session = await currentSession(place).catch(() => readSession(path, svc))
  const isEnded =
    session === null ||
    (await request(session.url, '/auth/logout', {}, session.access_token).then(
      ({ code }) => code === null,
      () => false,
    ))
  forgetSession(path)
  if (isEnded) {
    terminal.stdout.write('logged out\n')
    return 0
  }
  terminal.stderr.write(
    'svc: logged out here, but the platform did not confirm it: the session ends there in 30 days\n',
  )
  return 1
}

async function whoami(place: SessionPlace, terminal: Terminal, isJson: boolean): Promise<ExitCode> {
  const { currentSession, fetchAccount } = await import('./session.js')
  const { jsonText, printable } = await import('@svc/proof')
  const session = await currentSession(place)
  const account = await fetchAccount(session, place.svc)
  terminal.stdout.write(
    isJson ? `${jsonText(account)}\n` : `${printable(accountText(account, session.url, place.svc))}\n`,
  )
  return 0
}

/** The account and its workspace in words. An older platform omits fields: a missing one is unknown, not false. */
function accountText(account: Partial<Account>, url: string, svc: string): string {
  const { email = 'unknown', is_capped, is_suspended } = account
  const states = [stateText('on the waiting list', is_capped), stateText('suspended', is_suspended)]
  return `${email} at ${url}: ${workspaceText(account, svc)}${states.join('')}`
}

function workspaceText({ workspaces, current_workspace, is_capped }: Partial<Account>, svc: string): string {
  if (workspaces === undefined || current_workspace === undefined) return 'workspace unknown'
  const current = workspaces.find(({ org_id }) => org_id === current_workspace)
  if (current !== undefined) return `${current.name} (${current.org_id}), ${current.role}`
  if (is_capped) return 'no workspace'
  return `no current workspace (\`${svc} workspace list\` lists yours, \`${svc} workspace use NAME\` selects one)`
}

function stateText(state: string, is_so: boolean | undefined): string {
  if (is_so === undefined) return `, ${state}: unknown`
  return is_so ? `, ${state}` : ''
}

/** True if others on the network can read what is sent to the address. */
function isUnencrypted(url: string): boolean {
  return !/^https:|^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/.test(url)
}

async function withExitCode(terminal: Terminal, work: (place: SessionPlace) => Promise<ExitCode>): Promise<void> {
  try {
    const { sessionPlace } = await import('./session-file.js')
    terminal.exit(await work(sessionPlace(terminal)))
  } catch (error) {
    const { errorText } = await import('@svc/proof')
    terminal.stderr.write(`${errorText(error)}\n`)
    terminal.exit(1)
  }
}
