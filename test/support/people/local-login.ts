// A person signs in and logs a terminal in, on a platform whose links are printed.
import { expect, vi } from 'vitest'
import { startLogin } from '../cli/svc.js'
import type { PlatformProcess } from '../server/process.js'
import { soon } from '../server/soon.js'

/** Asks for a sign-in link, opens it and presses its button; the cookies of the browser. */
export async function signIn(platform: PlatformProcess): Promise<string> {
  const [, email = '', address = ''] = /sign in +as (\S+) at (\S+)/.exec(platform.printed) ?? []
  await fetch(address, { method: 'POST', body: new URLSearchParams({ email }) })
  const link = await vi.waitFor(() => {
    const [found = ''] = /http\S+token=\S+/.exec(platform.printed) ?? []
    expect(found).not.toBe('')
    return found
  }, soon)
  const token = new URL(link).searchParams.get('token') ?? ''
  const pressed = { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' } as const
  const button = await fetch(link.split('?')[0] ?? '', pressed)
  expect([button.status, button.headers.get('location')]).toEqual([303, '/'])
  const cookies = button.headers.getSetCookie().map((text) => text.split(';')[0])
  return cookies.join('; ')
}

/** Runs `svc login`, and confirms its code in the browser that has the cookies. */
export async function logIn(
  platform: PlatformProcess,
  cookie: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { address, finished } = await startLogin([], env)
  const page = await (await fetch(address, { headers: { cookie } })).text()
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const user_code = address.searchParams.get('user_code') ?? ''
  const body = new URLSearchParams({ csrf, user_code, decision: 'approve' })
  expect((await fetch(`${platform.url}/device`, { method: 'POST', headers: { cookie }, body })).status).toBe(200)
  const { stdout } = await finished
  expect(stdout).toContain('logged in as owner@localhost at')
  return stdout
}
