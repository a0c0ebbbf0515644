// Calls of a member to a platform, with the session of this user.
import type { Account, MemberList, Workspace } from '@svc/schemas'
import type { Terminal } from '../terminal.js'
import type { Screen } from './columns.js'
import { currentSession, download, fetchAccount, platformError, request } from './session.js'
import { forgetSession, sessionPlace } from './session-file.js'

export interface Client extends Screen {
  /** Shows progress. */
  readonly stderr: Terminal['stderr']
  readonly account: Account
  /** The current workspace. Throws when none is chosen. */
  readonly workspace: () => Workspace
  readonly get: <T>(path: string) => Promise<T>
  /** `timeoutMs` for work that takes the platform long, such as reading a branch. */
  readonly post: <T>(path: string, body?: object, timeoutMs?: number) => Promise<T>
  readonly patch: <T>(path: string, body: object, timeoutMs?: number) => Promise<T>
  /** Like `get`, or `post` with a body; a rejected call is returned, with the time after which it can succeed. */
  readonly attempt: <T>(path: string, body?: object) => Promise<Attempt<T>>
  readonly remove: (path: string, body?: object) => Promise<void>
  /** Removes the session file, after the session has ended. */
  readonly forget: () => void
  /** Downloads into a file. */
  readonly save: (path: string, file: string) => Promise<void>
  /** The id of the member with this address. Rejects when no member has it. */
  readonly memberId: (email: string) => Promise<string>
}

/** The answer of one of several attempts. */
export type Attempt<T> = {
  /** The time when the platform asks to be called again; null where it does not. */
  readonly retry_seconds: number | null
} & (
  | { readonly body: T; readonly error: null }
  | { readonly body: null; readonly error: Error; readonly status: number }
)

/** The client of the current session. Rejects when the user is not logged in. */
export async function openClient(terminal: Terminal): Promise<Client> {
  const { svc, stdout, stderr } = terminal
  const place = sessionPlace(terminal)
  const session = await currentSession(place)
  const account = await fetchAccount(session, svc)
  if ((account as Partial<Account>).workspaces === undefined)
    throw new Error(`${session.url} does not publish the workspaces of an account: it is an older platform`)
  const call = async <T>(path: string, body: unknown, method?: string, timeoutMs?: number) => {
    const { access_token, url } = session
    const { status, body: answer, code } = await request(url, path, body, access_token, method, timeoutMs)
    if (code !== null) throw platformError(status, answer)
    return answer as T
  }
  const attempt = async <T>(path: string, sent?: object): Promise<Attempt<T>> => {
    // A command that waits for long renews its session.
    const { access_token, url } = await currentSession(place)
    const { status, body, code, retry_seconds } = await request(url, path, sent ?? null, access_token)
    if (code === null) return { body: body as T, error: null, retry_seconds }
    return { body: null, error: platformError(status, body), status, retry_seconds }
  }
  const get = <T>(path: string) => call<T>(path, null)
  const workspace = () => currentWorkspace(account, svc)
  return {
    svc,
    width: stdout.isTTY ? (stdout.columns ?? null) : null,
    stderr,
    account,
    workspace,
    get,
    post: (path, body = {}, timeoutMs) => call(path, body, 'POST', timeoutMs),
    patch: (path, body, timeoutMs) => call(path, body, 'PATCH', timeoutMs),
    attempt,
    remove: (path, body) => call(path, body ?? null, 'DELETE'),
    forget: () => forgetSession(place.path),
    save: async (path, file) => download(await currentSession(place), path, file),
    memberId: async (email) => {
      const { org_id, name } = workspace()
      const { members } = await get<MemberList>(`/auth/workspaces/${org_id}/members`)
      const member = members.find((one) => one.email === email.trim().toLowerCase())
      if (member !== undefined) return member.person_id
      throw new Error(`\`${email}\` is not the address of a member of ${name}: \`${svc} workspace members\` lists them`)
    },
  }
}

function currentWorkspace({ workspaces, current_workspace }: Account, svc: string): Workspace {
  const current = workspaces.find(({ org_id }) => org_id === current_workspace)
  if (current !== undefined) return current
  throw new Error(
    `you have no current workspace: \`${svc} workspace list\` lists yours, \`${svc} workspace use NAME\` selects one`,
  )
}
