// The session of `svc login`: a file in the user's settings folder of this system, readable by that user only.
import { mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import { parseJson } from '@svc/proof'
import type { SessionTokens } from '@svc/schemas'
import type { Terminal } from '../terminal.js'

export interface SavedSession {
  /** The platform, without a trailing slash. */
  readonly url: string
  readonly access_token: string
  readonly refresh_token: string
  /** The time when the access token expires, ms since 1970. */
  readonly until: number
}

export interface SessionPlace {
  /** File of the session. */
  readonly path: string
  /** ms since 1970 */
  readonly now: () => number
  /** The name by which this command was called, for hints. */
  readonly svc: string
  readonly env: Terminal['env']
}

/** The session of the user who called the command. */
export function sessionPlace({ svc, env }: Pick<Terminal, 'svc' | 'env'>): SessionPlace {
  return { path: sessionPath(env, process.platform), now: Date.now, svc, env }
}

/** The file of the session: in SVC_CONFIG_DIR, else in the settings folder of this system. */
function sessionPath(env: Terminal['env'], platform: NodeJS.Platform): string {
  const home = env.HOME ?? homedir()
  const own =
    platform === 'win32'
      ? (env.APPDATA ?? join(home, 'AppData', 'Roaming'))
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : (env.XDG_CONFIG_HOME ?? join(home, '.config'))
  return join(env.SVC_CONFIG_DIR ?? join(own, 'svc'), 'session.json')
}

/** Null when the user is not logged in. Throws when the file is damaged. */
export function readSession(path: string, svc: string): SavedSession | null {
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const session = parseJson(text) as SavedSession
    const texts = [session.url, session.access_token, session.refresh_token]
    if (texts.every((one) => typeof one === 'string') && Number.isFinite(session.until)) return session
  } catch {
    // Rejected below, as is JSON of another shape.
  }
  throw new Error(`\`${path}\` is damaged: remove it and run \`${svc} login\``)
}

export function saveSession(path: string, url: string, tokens: SessionTokens, now: number): SavedSession {
  const { access_token, refresh_token, expires_in } = tokens
  const session = { url, access_token, refresh_token, until: now + expires_in * 1000 }
  replaceFile(path, `${JSON.stringify(session, null, 2)}\n`)
  return session
}

/** ms: renewing takes less, so the owner of an older lock has ended. */
const lockTimeoutMs = 30_000

/** Runs the work while no other command of this user renews the session: a refresh token that is sent twice ends it. */
export async function withRenewalLock<T>(path: string, now: () => number, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  while (!acquire(lock)) {
    if (now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? now()) > lockTimeoutMs) release(lock)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  try {
    return await work()
  } finally {
    release(lock)
  }
}

function acquire(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

function release(lock: string): void {
  try {
    rmdirSync(lock)
  } catch {
    // Another process has removed it.
  }
}

export function forgetSession(path: string): void {
  rmSync(path, { force: true })
}
