// Tokens of installations, each for one repository or none and for the permissions that its use needs.
import { type AskGithub, SourceError } from '@svc/platform'
import { membersOf, textIn } from './members.js'

/** The permissions of a token, as GitHub names them. */
export type Permissions = Readonly<Record<string, 'read' | 'write'>>

interface TokenFor {
  readonly installation_id: number
  /** GitHub's id of the only repository that the token is for; null for every repository of the installation. */
  readonly github_id: number | null
  readonly permissions: Permissions
}

export interface InstallationTokens {
  /** A token that is valid for at least a minute, and not the one that GitHub has rejected. Rejects with SourceError. */
  readonly tokenFor: (wanted: TokenFor, rejected?: string) => Promise<string>
  /** Forgets the tokens of an installation, which GitHub has revoked. */
  readonly forget: (installation_id: number) => void
}

interface Parts {
  /** Requests of the App itself. */
  readonly asApp: AskGithub
  readonly clock: () => number
}

interface Issued {
  readonly token: string
  /** ms since 1970; from then on the next use asks for another one. */
  readonly until: number
}

/** Tokens are valid for an hour. */
const marginMs = 5 * 60_000
const maxHeld = 5000

export function createInstallationTokens({ asApp, clock }: Parts): InstallationTokens {
  // A token is held while it is asked for, so that others wait for the same one.
  const held = new Map<string, Promise<Issued>>()
  const drop = (id: string, one: Promise<Issued>) => held.get(id) === one && held.delete(id)
  const issue = (id: string, wanted: TokenFor) => {
    const issued = issueToken(asApp, wanted)
    issued.catch(() => drop(id, issued))
    held.set(id, issued)
    const [oldest] = held.keys()
    if (held.size > maxHeld && oldest !== undefined) held.delete(oldest)
    return issued
  }
  return {
    tokenFor: async (wanted, rejected) => {
      const id = idOf(wanted)
      const known = held.get(id)
      if (known !== undefined) {
        const { token, until } = await known
        if (until > clock() && token !== rejected) return token
        drop(id, known)
      }
      return (await (held.get(id) ?? issue(id, wanted))).token
    },
    forget: (installation_id) => {
      for (const id of held.keys()) if (id.startsWith(`${installation_id} `)) held.delete(id)
    },
  }
}

async function issueToken(asApp: AskGithub, { installation_id, github_id, permissions }: TokenFor): Promise<Issued> {
  const path = `/app/installations/${installation_id}/access_tokens`
  const wanted = { permissions, ...(github_id === null ? {} : { repository_ids: [github_id] }) }
  const { body } = await asApp({ method: 'POST', path, body: wanted }).catch((error) => {
    throw refused(error, permissions)
  })
  const token = textIn(membersOf(body), 'token')
  const until = Date.parse(textIn(membersOf(body), 'expires_at') ?? '') - marginMs
  if (token !== null && token !== '' && !Number.isNaN(until)) return { token, until }
  throw new SourceError('fetch_failed', 'GitHub sent no token of the installation: check SVC_GITHUB_API_URL')
}

/** GitHub gives no token for what the installation does not grant or cover, and none while it is suspended. */
function refused(error: unknown, permissions: Permissions): unknown {
  if (!(error instanceof SourceError)) return error
  const { code, status } = error
  const isRefused =
    code === 'rejected' || code === 'repository_missing' || (code === 'access_revoked' && status === 403)
  if (!isRefused) return error
  const wanted = Object.entries(permissions).map(([name, level]) => `\`${name}: ${level}\``)
  const message = `the installation of the GitHub App does not give ${wanted.join(', ')} for this repository: in the settings of the installation, check that it is not suspended, covers the repository, and has accepted all permissions`
  return new SourceError('access_revoked', message, null, status)
}

function idOf({ installation_id, github_id, permissions }: TokenFor): string {
  const granted = Object.entries(permissions)
    .map(([name, level]) => `${name}=${level}`)
    .sort()
  return [installation_id, github_id ?? '', ...granted].join(' ')
}
