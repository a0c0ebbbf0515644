// Talking to a platform as somebody who has logged in.
import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Account, Problem, SessionTokens } from '@svc/schemas'
import { forgetSession, readSession, renewing, type SavedSession, saveSession } from './session-file.js'

/** What a platform answered; `code` is its problem's, null where it is content. */
interface Answer {
  readonly status: number
  readonly body: unknown
  readonly code: string | null
}

/** How long an answer may take, ms. */
export const patience = 15_000

/** Rejects when the platform cannot be reached. */
export async function ask(
  url: string,
  path: string,
  body: unknown,
  token: string | null,
  method = body === null ? 'GET' : 'POST',
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    ...(body !== null && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(patience),
  }).catch(silent(url))
  const answer = parsed(url, await response.text())
  const code = response.ok ? null : ((answer as Problem | null)?.code ?? 'UNKNOWN')
  return { status: response.status, body: answer, code }
}

export function silent(url: string) {
  return (error: unknown): never => {
    const { cause, message } = error as { cause?: { code?: string }; message: string }
    throw new Error(`${url} does not answer: ${cause?.code ?? message}`)
  }
}

export function parsed(url: string, text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    throw new Error(`${url} answers something that is no svc platform's`)
  }
}

/** Downloads into a file that its user alone can read; it is there whole or not at all. */
export async function download({ url, access_token }: SavedSession, path: string, file: string): Promise<void> {
  const headers = { authorization: `Bearer ${access_token}` }
  const response = await fetch(`${url}${path}`, { headers, redirect: 'manual' }).catch(silent(url))
  if (!response.ok || response.body === null) throw refusal(response.status, parsed(url, await response.text()))
  const draft = `${file}.part`
  try {
    // Opened before the content is read, so that whatever ends it finds the file there to be removed.
    const opened = await open(draft, 'w', 0o600)
    await pipeline(response.body, opened.createWriteStream()).finally(() => opened.close().catch(() => undefined))
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Error(`${file} is not written: ${whatEnded(error)}`)
  }
}

/** The file's own troubles have a code; that of a connection is told by its cause. */
function whatEnded(error: unknown): string {
  const { code, cause, message } = error as { code?: string; cause?: { message?: string }; message: string }
  return code === undefined ? `the download broke off (${cause?.message ?? message})` : message
}

/** The session of this user, with a token that is still good for a while; null when nobody has logged in, or it is over. */
export async function liveSession(path: string, now: () => number): Promise<SavedSession | null> {
  const isGood = (session: SavedSession | null) => session === null || session.until - now() > 30_000
  const session = readSession(path)
  if (isGood(session)) return session
  return renewing(path, now, async () => {
    const current = readSession(path)
    return current === null || isGood(current) ? current : renewed(path, current, now())
  })
}

async function renewed(path: string, session: SavedSession, now: number): Promise<SavedSession> {
  const { status, body, code } = await ask(session.url, '/auth/refresh', { refresh_token: session.refresh_token }, null)
  if (code === null) return saveSession(path, session.url, body as SessionTokens, now)
  // A platform that cannot answer now has not ended the session.
  if (status !== 401) throw refusal(status, body)
  forgetSession(path)
  throw new Error('the session has ended: run svc login')
}

/** Who has logged in. */
export async function accountOf({ url, access_token }: SavedSession): Promise<Account | null> {
  const { status, body, code } = await ask(url, '/auth/me', null, access_token)
  if (code === null) return body as Account
  if (status === 401) return null
  throw refusal(status, body)
}

export function refusal(status: number, body: unknown): Error {
  const { detail = 'no reason given', errors = [] } = (body ?? {}) as Partial<Problem>
  const fields = errors.map(({ path, message }) => `${path}: ${message}`)
  if (status >= 500 || status === 0) return new Error(`the platform answers ${status}: ${detail}`)
  return new Error(fields.length > 1 ? fields.join('\n  ') : detail)
}
