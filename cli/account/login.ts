// `svc login`, `svc logout` and `svc whoami`.
import type { Account } from '@svc/schemas'
import { Command } from 'commander'

interface LoginOptions {
  readonly url: string
}

export function loginCommand(): Command {
  return new Command('login')
    .description('log in to a platform, with a browser that may be on another machine')
    .option('--url <url>', 'the platform', process.env.SVC_API_URL ?? 'http://127.0.0.1:8080')
    .addHelpText(
      'after',
      '\nExample:\n  svc login --url https://svc.example.org\n\nExit codes: 0 logged in, 1 not, 2 usage',
    )
    .action(({ url }: LoginOptions) =>
      act(async ({ path, now }) => {
        const { beginLogin, awaitDecision } = await import('./device-flow.js')
        const { accountOf } = await import('./session.js')
        const { saveSession } = await import('./session-file.js')
        const { printable } = await import('@svc/proof')
        if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
          process.stderr.write(
            `svc: --url is \`${printable(url)}\`, which is no address such as https://svc.example.org\n`,
          )
          return 2
        }
        const platform = url.replace(/\/+$/, '')
        if (isOpen(platform))
          process.stderr.write('svc: this is not encrypted, and anybody between here and there can read along\n')
        const code = await beginLogin(platform)
        const address = printable(code.verification_uri_complete)
        process.stdout.write(
          `open ${address}\ncheck that the page shows ${printable(code.user_code)}, and press "Let it in"\n`,
        )
        const session = saveSession(path, platform, await awaitDecision(platform, code), now())
        const account = await accountOf(session)
        process.stdout.write(
          account === null ? 'logged in\n' : `logged in as ${printable(whoText(account, platform))}\n`,
        )
        return 0
      }),
    )
}

export function logoutCommand(): Command {
  return new Command('logout')
    .description('end the session of svc login')
    .addHelpText('after', '\nExample:\n  svc logout\n\nExit codes: 0 done, 1 not possible, 2 usage')
    .action(() =>
      act(async ({ path, now }) => {
        const { ask, liveSession } = await import('./session.js')
        const { forgetSession, readSession } = await import('./session-file.js')
        const session = await liveSession(path, now).catch(() => readSession(path))
        const told =
          session === null ? null : await ask(session.url, '/auth/logout', {}, session.access_token).catch(nothing)
        forgetSession(path)
        if (session !== null && (told === null || told.code !== null)) {
          process.stderr.write(
            'svc: logged out here, but the platform could not be told: the session ends by itself after 30 days\n',
          )
          return 1
        }
        process.stdout.write(session === null ? 'nobody was logged in\n' : 'logged out\n')
        return 0
      }),
    )
}

export function whoamiCommand(): Command {
  return new Command('whoami')
    .description('who is logged in, and where')
    .option('--json', 'the account for programs')
    .addHelpText('after', '\nExample:\n  svc whoami\n\nExit codes: 0 somebody, 1 nobody, 2 usage')
    .action(({ json }: { readonly json?: boolean }) =>
      act(async ({ path, now }) => {
        const { accountOf, liveSession } = await import('./session.js')
        const { jsonText, printable } = await import('@svc/proof')
        const session = await liveSession(path, now)
        const account = session === null ? null : await accountOf(session)
        if (session === null || account === null) {
          process.stderr.write('nobody is logged in: run svc login\n')
          return 1
        }
        process.stdout.write(json ? `${jsonText(account)}\n` : `${printable(whoText(account, session.url))}\n`)
        return 0
      }),
    )
}

/** Who has signed in and where they work. An older platform leaves fields out: a missing one is unknown, not false. */
function whoText(account: Partial<Account>, url: string): string {
  const { email = 'unknown', workspaces, current_workspace, is_capped, is_suspended } = account
  const here = workspaces?.find(({ org_id }) => org_id === current_workspace)
  const nowhere = is_capped ? 'in no workspace' : 'in no workspace any more: choose one with svc workspace use'
  const isKnown = workspaces !== undefined && current_workspace !== undefined
  const place =
    here === undefined ? (isKnown ? nowhere : 'workspace unknown') : `${here.name} (${here.org_id}), ${here.role}`
  return `${email} at ${url}: ${place}${stateText('on the waiting list', is_capped)}${stateText('suspended', is_suspended)}`
}

function stateText(what: string, is_so: boolean | undefined): string {
  if (is_so === undefined) return `, ${what}: unknown`
  return is_so ? `, ${what}` : ''
}

/** Whether others can read what is sent there. */
function isOpen(url: string): boolean {
  return !/^https:|^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/.test(url)
}

function nothing(): null {
  return null
}

interface Surroundings {
  readonly path: string
  readonly now: () => number
}

async function act(work: (around: Surroundings) => Promise<0 | 1 | 2>): Promise<void> {
  try {
    const { sessionPath } = await import('./session-file.js')
    process.exitCode = await work({ path: sessionPath(process.env, process.platform), now: Date.now })
  } catch (error) {
    const { errorText } = await import('@svc/proof')
    process.stderr.write(`${errorText(error)}\n`)
    process.exitCode = 1
  }
}
