// The documentation is tried: what the README shows and what a start prints is run as it stands.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseManifest } from '@svc/engine'
import type { OfferList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startMailServer } from '../support/mail.js'
import { freePort } from '../support/postgres.js'
import { type PlatformProcess, startProcess } from '../support/process.js'
import { startLogin } from '../support/svc.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const section = (title: string) => readme.split(/^## /m).find((part) => part.startsWith(title)) ?? ''
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '')
const hasCurl = spawnSync('curl', ['--version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'svc-readme-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a shell command and reads what it prints as JSON. */
const run = (command: string) =>
  JSON.parse(execFileSync('bash', ['-c', command], { encoding: 'utf8', cwd: folder })) as Record<string, unknown>

describe.skipIf(!hasCurl)("the developer's five minutes", () => {
  it('block code without a gate, say what would allow it, and go on after one', async () => {
    const [serve = '', evaluate = '', record = ''] = blocks(section('Five minutes for an agent developer'), 'sh')
    const port = String(await freePort())
    const here = (command: string) => command.replaceAll(':8765', `:${port}`)
    expect(serve.trim()).toBe('npx --no-install svc serve --baseline')
    const server = spawn(process.execPath, [join(root, 'cli/bin/svc.js'), 'serve', '--baseline', '--port', port], {
      cwd: folder,
    })
    const ended = new Promise<number | null>((resolve) => server.once('close', resolve))
    await new Promise((resolve) => server.stdout.once('data', resolve))
    const before = run(here(evaluate))
    expect(before).toMatchObject({ action: 'block', blocked: true })
    expect(JSON.stringify(before)).toContain('a passed step.gate at most 3 steps before this step')
    const [gate = '', end = ''] = here(record).split(/\n(?=curl)/)
    expect(run(gate)).toEqual({ step: 1, task_id: 't-1' })
    expect(run(here(evaluate))).toMatchObject({ action: 'allow', blocked: false })
    expect(run(end)).toEqual({ status: 'ok', task_id: 't-1' })
    expect(readFileSync(join(folder, 'data/traces.jsonl'), 'utf8')).toContain('"step_type":"step.gate"')
    server.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

describe("the compliance officer's manifest", () => {
  it('is valid as it is shown', () => {
    const [manifest = ''] = blocks(section('Five minutes for a compliance officer'), 'yaml')
    expect(parseManifest(manifest, 'README.md').errors).toEqual([])
  })
})

describe.skipIf(!hasCurl)('the platform that a start leaves running', () => {
  let platform: PlatformProcess
  let cookie: string
  let env: Record<string, string>
  beforeAll(async () => {
    env = {
      ...{ SVC_DATA_DIR: join(folder, 'platform'), SVC_PORT: String(await freePort()), SVC_CHECKPOINT_SECONDS: '1' },
    }
    platform = await startProcess(env)
  })
  afterAll(() => platform.terminate())
  const printed = () =>
    platform.printed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.startsWith('curl'))
  const tryPrinted = (status: string) => {
    const [register = '', log = '', verify = ''] = printed()
    expect(run(register)).toMatchObject({ registration_status: status, violations: [] })
    expect(run(log)).toMatchObject({ task_id: 'first-task', step: 1, seq: 1, prev_hash: '' })
    expect(run(verify)).toMatchObject({ valid: true, entries: 1 })
  }

  it('prints what works as it is printed', () => tryPrinted('created'))

  it('signs its owner in by the link it prints when one is asked for', async () => {
    const address = /sign in +(\S+)/.exec(platform.printed)?.[1] ?? ''
    await fetch(address, { method: 'POST', body: new URLSearchParams({ email: 'owner@localhost' }) })
    const link = await vi.waitFor(() => {
      const [found = ''] = /http\S+token=\S+/.exec(platform.printed) ?? []
      expect(found).not.toBe('')
      return found
    }, 15_000)
    const token = new URL(link).searchParams.get('token') ?? ''
    const button = await fetch(link.split('?')[0] ?? '', { method: 'POST', body: new URLSearchParams({ token }) })
    expect([button.status, await button.text()]).toEqual([200, expect.stringContaining('You are signed in')])
    cookie = button.headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ')
  })

  it('lets their terminal in, which shares the workspace and makes a key', async () => {
    const terminal = { SVC_CONFIG_DIR: join(folder, 'config'), SVC_API_URL: platform.url }
    const [login = '', ...commands] = (blocks(section('People, workspaces and keys'), 'sh')[0] ?? '').trim().split('\n')
    expect(login).toBe('npx --no-install svc login')
    const { address, finished } = await startLogin([], terminal)
    const page = await (await fetch(address, { headers: { cookie } })).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const user_code = address.searchParams.get('user_code') ?? ''
    const body = new URLSearchParams({ csrf, user_code, decision: 'approve' })
    expect((await fetch(`${platform.url}/device`, { method: 'POST', headers: { cookie }, body })).status).toBe(200)
    expect((await finished).stdout).toContain('logged in as owner@localhost at')

    const svc = `${process.execPath} ${join(root, 'cli/bin/svc.js')}`
    const answers = commands.map((command) =>
      execFileSync('bash', ['-c', command.replace('npx --no-install svc', svc)], {
        ...{ encoding: 'utf8', cwd: folder, env: { ...process.env, ...terminal } },
      }),
    )
    expect(answers).toEqual([
      expect.stringContaining('Acme Compliance can be shared'),
      expect.stringContaining('invitation in Acme Compliance offered to mia@example.org'),
      expect.stringMatching(/SvcKey-\S{43}\n$/),
    ])
  })

  it('lets them verify a bundle offline by the key of a checkpoint', async () => {
    const terminal = { ...process.env, SVC_CONFIG_DIR: join(folder, 'config') }
    const svc = `${process.execPath} ${join(root, 'cli/bin/svc.js')}`
    const here = (command: string) =>
      command
        .replaceAll('http://127.0.0.1:8080', platform.url)
        .replaceAll('SvcLocal-…', platform.operator_token)
        .replaceAll('npx --no-install svc', svc)
    const [verify = '', checkpoint = '', bundle = ''] = blocks(section('Five minutes for an auditor'), 'sh')
    expect(run(here(verify))).toMatchObject({ valid: true })
    await vi.waitFor(() => expect(run(here(checkpoint)).size).toBeGreaterThanOrEqual(5), 15_000)
    const verdict = execFileSync('bash', ['-ec', here(bundle)], { encoding: 'utf8', cwd: folder, env: terminal })
    expect(verdict).toContain('bundle.zip: valid\n')
    const alone = [join(root, 'proof/svc-verify.mjs'), 'bundle.zip', '--trust', 'trust.policy']
    expect(verdict.endsWith(execFileSync(process.execPath, alone, { encoding: 'utf8', cwd: folder }))).toBe(true)
  })

  it('works as printed the second time, and mails whoever is invited a link', async () => {
    const mails = await startMailServer()
    expect(await platform.terminate()).toBe(0)
    platform = await startProcess({ ...env, SVC_SMTP_URL: mails.url })
    tryPrinted('updated')
    const send = async (path: string, sent: object, as?: string) => {
      const headers = { 'content-type': 'application/json', ...(as !== undefined && { authorization: `Bearer ${as}` }) }
      const answer = await fetch(`${platform.url}${path}`, { method: 'POST', headers, body: JSON.stringify(sent) })
      const text = await answer.text()
      return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, string> }
    }
    expect((await send('/auth/magic-link', { email: 'mia@example.org' })).status).toBe(202)
    const mia = await send('/auth/magic-link/verify', { token: await mails.tokenFor('mia@example.org') })
    const asMia = { authorization: `Bearer ${mia.body.access_token}` }
    const { offers } = (await (await fetch(`${platform.url}/auth/offers`, { headers: asMia })).json()) as OfferList
    expect(offers).toMatchObject([{ workspace: 'Acme Compliance', role: 'auditor', state: 'pending' }])
    const accepted = await send(`/auth/offers/${offers[0]?.id}/accept`, {}, mia.body.access_token)
    expect(accepted.body.state).toBe('accepted')
    await mails.close()
  })
})
