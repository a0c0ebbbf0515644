// Requests to a platform, and the session of this user.
import { renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { parseJson } from '@svc/proof'
import type { Account, Problem, SessionTokens } from '@svc/schemas'
import { shellWord } from '../called-as.js'
import { defaultUrl } from './platform-url.js'
import {
  forgetSession,
  readSession,
  type SavedSession,
  type SessionPlace,
  saveSession,
  withRenewalLock,
} from './session-file.js'

/** The answer of a platform. */
interface Answer {
  readonly status: number
  readonly body: unknown
  /** Code of the problem; null for a success. */
  readonly code: string | null
  /** The time when the platform asks to be called again; null where it does not. */
  readonly retry_seconds: number | null
}

export const answerTimeoutMs = 15_000

/** Rejects when the platform cannot be reached. */
export async function request(
  url: string,
  path: string,
  body: unknown,
  token: string | null,
  method = body === null ? 'GET' : 'POST',
  timeoutMs = answerTimeoutMs,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    ...(body !== null && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(rejectUnreachable(url))
  const answer = parseAnswer(url, await response.text())
  const code = response.ok ? null : ((answer as Problem | null)?.code ?? 'UNKNOWN')
  const retry = response.headers.get('retry-after') ?? ''
  return { status: response.status, body: answer, code, retry_seconds: /^\d{1,5}$/.test(retry) ? Number(retry) : null }
}

/** For `catch` of a fetch. */
export function rejectUnreachable(url: string) {
  return (error: unknown): never => {
    const { cause, message } = error as { cause?: { code?: string }; message: string }
    throw new Error(`${url} does not answer: ${cause?.code ?? message}`)
  }
}

export function parseAnswer(url: string, text: string): unknown {
  try {
    return text === '' ? null : parseJson(text)
  } catch {
    throw new Error(`${url} is not a svc platform: its answer is not JSON`)
  }
}

/** Downloads into a file that only its user can read. A failed download leaves the previous file. */
export async function download({ url, access_token }: SavedSession, path: string, file: string): Promise<void> {
  const headers = { authorization: `Bearer ${access_token}` }
  const response = await fetch(`${url}${path}`, { headers, redirect: 'manual' }).catch(rejectUnreachable(url))
  if (!response.ok || response.body === null)
    throw platformError(response.status, parseAnswer(url, await response.text()))
  const draft = `${file}.part`
  try {
    // Opened before the content is read, so that every failure finds the file to remove.
    const opened = await open(draft, 'w', 0o600)
    await pipeline(response.body, opened.createWriteStream()).finally(() => opened.close().catch(() => undefined))
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Error(`\`${file}\` is not written: ${downloadProblem(error)}`)
  }
}

/** An error of the file has a code; an error of the connection has a cause. */
function downloadProblem(error: unknown): string {
  const { code, cause, message } = error as { code?: string; cause?: { message?: string }; message: string }
  return code === undefined ? `the download was interrupted (${cause?.message ?? message})` : message
}

/** The session of this user, its token valid for 30 seconds at least. Rejects when the user is not logged in. */
export async function currentSession(place: SessionPlace): Promise<SavedSession> {
  const { path, now, svc } = place
  const isFresh = (session: SavedSession) => session.until - now() > 30_000
  const session = readSession(path, svc)
  if (session === null) throw notLoggedIn(place)
  if (isFresh(session)) return session
  return withRenewalLock(path, now, async () => {
    const current = readSession(path, svc)
    if (current === null) throw sessionEnded(session, svc)
    return isFresh(current) ? current : renewed(current, place)
  })
}

async function renewed(session: SavedSession, { path, now, svc }: SessionPlace): Promise<SavedSession> {
  const { status, body, code } = await request(
    session.url,
    '/auth/refresh',
    { refresh_token: session.refresh_token },
    null,
  )
  if (code === null) return saveSession(path, session.url, body as SessionTokens, now())
  // A platform that cannot answer now has not ended the session.
  if (status !== 401) throw platformError(status, body)
  forgetSession(path)
  throw sessionEnded(session, svc)
}

function notLoggedIn({ svc, env }: SessionPlace): Error {
  const url = defaultUrl(env)
  const isKeySet = (env.SVC_API_KEY ?? '') !== ''
  const note = isKeySet ? ' (SVC_API_KEY is for agents, and this command is for people)' : ''
  const remedy = `run \`${svc} login\` for ${url}, or add \`--url\` for another platform`
  return new Error(`you are not logged in${note}: ${remedy}`)
}

function sessionEnded({ url }: SavedSession, svc: string): Error {
  return new Error(`the session has ended: run \`${svc} login --url ${shellWord(url)}\``)
}

/** The account of the session. Rejects when the session has ended. */
export async function fetchAccount(session: SavedSession, svc: string): Promise<Account> {
  const { status, body, code } = await request(session.url, '/auth/me', null, session.access_token)
  if (code === null) return body as Account
  throw status === 401 ? sessionEnded(session, svc) : platformError(status, body)
}

/** The error of an answer that is not a success. */
export function platformError(status: number, body: unknown): Error {
  const { detail = 'no reason given', errors = [] } = (body ?? {}) as Partial<Problem>
  const fields = errors.map(({ path, message }) => `${path}: ${message}`)
  if (status >= 500 || status === 0) return new Error(`the platform answers ${status}: ${detail}`)
  return new Error(fields.length > 1 ? fields.join('\n  ') : detail)
}
