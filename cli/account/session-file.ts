// The session of `svc login`: in the folder where this system keeps settings of its user, readable by that user alone.
import { mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import type { SessionTokens } from '@svc/schemas'

export interface SavedSession {
  /** The platform, without a slash at its end. */
  readonly url: string
  readonly access_token: string
  readonly refresh_token: string
  /** ms since 1970, of the access token. */
  readonly until: number
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Where the session is kept: SVC_CONFIG_DIR, else the system's own place. */
export function sessionPath(env: Environment, platform: NodeJS.Platform): string {
  const home = env.HOME ?? homedir()
  const own =
    platform === 'win32'
      ? (env.APPDATA ?? join(home, 'AppData', 'Roaming'))
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : (env.XDG_CONFIG_HOME ?? join(home, '.config'))
  return join(env.SVC_CONFIG_DIR ?? join(own, 'svc'), 'session.json')
}

/** Null when nobody has logged in here. Throws for a file that is none. */
export function readSession(path: string): SavedSession | null {
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const session = JSON.parse(text) as SavedSession
    const texts = [session.url, session.access_token, session.refresh_token]
    if (texts.every((one) => typeof one === 'string') && Number.isFinite(session.until)) return session
  } catch {
    // Answered below, like a file of another shape.
  }
  throw new Error(`\`${path}\` is damaged: remove it and log in again`)
}

export function saveSession(path: string, url: string, tokens: SessionTokens, now: number): SavedSession {
  const { access_token, refresh_token, expires_in } = tokens
  const session = { url, access_token, refresh_token, until: now + expires_in * 1000 }
  replaceFile(path, `${JSON.stringify(session, null, 2)}\n`)
  return session
}

/** ms: nobody renews a session for longer, so that a lock this old was left behind. */
const longest = 30_000

/** Keeps other commands of this user from renewing at the same time: a refresh token that comes twice ends the session. */
export async function renewing<T>(path: string, now: () => number, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  while (!taken(lock)) {
    if (now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now()) > longest) freed(lock)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  try {
    return await work()
  } finally {
    freed(lock)
  }
}

function taken(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

function freed(lock: string): void {
  try {
    rmdirSync(lock)
  } catch {
    // Somebody else has freed it.
  }
}

export function forgetSession(path: string): void {
  rmSync(path, { force: true })
}
