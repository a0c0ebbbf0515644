// `svc` of a member who has logged in to a platform of this process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MadeApiKey } from '@svc/schemas'
import { saveSession } from '../../../cli/account/session-file.js'
import { runSvc } from '../cli/svc.js'
import { discard, startPlatform, type TestPlatform } from '../server/platform.js'
import { startMailServer } from './mail.js'
import { signedIn } from './people.js'

export interface LoggedIn {
  readonly platform: TestPlatform
  /** An API key of the member's workspace. */
  readonly key: string
  /** An access token of the member. */
  readonly token: string
  /** What a command prints; for a failed one its exit code and what it prints on stderr. */
  readonly svc: (...args: string[]) => Promise<string>
  readonly close: () => Promise<void>
}

export async function openLoggedIn(): Promise<LoggedIn> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
  const mails = await startMailServer()
  const platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url } })
  const { token, refresh_token } = await signedIn(platform, mails, 'anna@example.org')
  const tokens = { access_token: token, refresh_token, token_type: 'Bearer' as const, expires_in: 900 }
  saveSession(join(folder, 'session.json'), platform.url, tokens, Date.now())
  const { body } = await platform.call<MadeApiKey>('POST', '/auth/api-keys', { as: token, body: { name: 'k' } })
  return {
    platform,
    key: body.key,
    token,
    svc: async (...args) => {
      const { code, stdout, stderr } = await runSvc(args, { SVC_CONFIG_DIR: folder })
      return code === 0 ? stdout : `${code} ${stderr}`
    },
    close: async () => {
      await discard(platform)
      await mails.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
