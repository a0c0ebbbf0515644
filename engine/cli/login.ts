// `svc login`, `svc logout` and `svc whoami`.
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
        const { beginLogin, awaitDecision, accountOf } = await import('./session.js')
        const { saveSession } = await import('./session-file.js')
        const platform = url.replace(/\/+$/, '')
        const code = await beginLogin(platform)
        process.stdout.write(
          `open ${code.verification_uri_complete}\nand let in the program that shows ${code.user_code}\n`,
        )
        const session = saveSession(path, platform, await awaitDecision(platform, code), now())
        process.stdout.write(`logged in as ${(await accountOf(session))?.email ?? 'somebody'}\n`)
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
        const { forgetSession } = await import('./session-file.js')
        const session = await liveSession(path, now)
        if (session !== null) await ask(session.url, '/auth/logout', {}, session.access_token)
        forgetSession(path)
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
        const { printable } = await import('./printable.js')
        const session = await liveSession(path, now)
        const account = session === null ? null : await accountOf(session)
        if (session === null || account === null) {
          process.stderr.write('nobody is logged in: run svc login\n')
          return 1
        }
        const { email, workspaces, current_workspace, is_capped, is_suspended } = account
        const here = workspaces.find(({ org_id }) => org_id === current_workspace)
        const state = is_capped ? ', on the waiting list' : is_suspended ? ', suspended' : ''
        const where = here === undefined ? 'no workspace' : `${here.name} (${here.org_id}), ${here.role}${state}`
        process.stdout.write(
          json ? `${JSON.stringify(account, null, 2)}\n` : `${printable(`${email} at ${session.url}: ${where}`)}\n`,
        )
        return 0
      }),
    )
}

interface Surroundings {
  readonly path: string
  readonly now: () => number
}

async function act(work: (around: Surroundings) => Promise<0 | 1>): Promise<void> {
  try {
    const { sessionPath } = await import('./session-file.js')
    process.exitCode = await work({ path: sessionPath(process.env, process.platform), now: Date.now })
  } catch (error) {
    process.stderr.write(`svc: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
