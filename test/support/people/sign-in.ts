// A platform with a mailbox, on a clock that the test moves, and the calls of sign-in.
import type { Account, Problem, SessionTokens } from '@svc/schemas'
import { expect } from 'vitest'
import { type Answer, discard, startPlatform, type TestPlatform } from '../server/platform.js'
import { type MailServer, startMailServer } from './mail.js'

export const minute = 60_000

export interface SignInSite {
  readonly platform: TestPlatform
  readonly mails: MailServer
  /** The clock of the platform, ms since 1970. */
  readonly clock: { now: number }
  /** Posts as an anonymous caller, or with the token `as`. */
  readonly post: <T = Problem>(path: string, body: unknown, as?: string | null) => Promise<Answer<T>>
  readonly requestLink: (email: string) => Promise<Answer<Problem>>
  readonly redeem: (token: string) => Promise<Answer<SessionTokens & Problem>>
  readonly me: (token: string) => Promise<Answer<Account & Problem>>
  /** Moves the clock past the limits, requests a link and signs in with it. */
  readonly signIn: (email: string) => Promise<SessionTokens>
  readonly close: () => Promise<void>
}

export async function openSignIn(): Promise<SignInSite> {
  const clock = { now: Date.parse('2026-03-01T09:00:00Z') }
  const mails = await startMailServer()
  const platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url }, clock: () => clock.now })
  const post = <T = Problem>(path: string, body: unknown, as: string | null = null) =>
    platform.call<T>('POST', path, { as, body })
  const requestLink = (email: string) => post('/auth/magic-link', { email })
  const redeem = (token: string) => post<SessionTokens & Problem>('/auth/magic-link/verify', { token })
  return {
    platform,
    mails,
    clock,
    post,
    requestLink,
    redeem,
    me: (token) => platform.call<Account & Problem>('GET', '/auth/me', { as: token }),
    signIn: async (email) => {
      clock.now += 20 * minute
      expect((await requestLink(email)).status).toBe(202)
      const { status, body } = await redeem(await mails.tokenFor(email))
      expect(status).toBe(200)
      return body
    },
    close: async () => {
      await discard(platform)
      await mails.close()
    },
  }
}
