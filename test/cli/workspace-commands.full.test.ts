// A workspace is shared, staffed and transferred with `svc` alone, by people at their terminals.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account, ApiKeyList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { saveSession } from '../../cli/account/session-file.js'
import { runSvc } from '../support/cli/svc.js'
import { type MailServer, startMailServer } from '../support/people/mail.js'
import { signedIn } from '../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../support/server/platform.js'
import { soon } from '../support/server/soon.js'

let mails: MailServer
let platform: TestPlatform
const folders: string[] = []
const svc = 'npx --no-install svc'
type Terminal = (...args: string[]) => Promise<string>
let anna: Terminal
let ben: Terminal
let cleo: Terminal

/** The terminal of a person: it returns the printed text, after the exit code when the command fails. */
async function terminalOf(email: string): Promise<Terminal> {
  const person = await signedIn(platform, mails, email)
  const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
  folders.push(folder)
  const tokens = { access_token: person.token, refresh_token: person.refresh_token, token_type: 'Bearer' as const }
  saveSession(join(folder, 'session.json'), platform.url, { ...tokens, expires_in: 900 }, Date.now())
  return async (...args) => {
    const { code, stdout, stderr } = await runSvc(args, { SVC_CONFIG_DIR: folder })
    return code === 0 ? stdout : `${code} ${stderr}`
  }
}

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url, SVC_CHECKPOINT_SECONDS: '1' } })
  anna = await terminalOf('anna@example.org')
  ben = await terminalOf('ben@example.org')
  cleo = await terminalOf('cleo@example.org')
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

describe('svc workspace', () => {
  it('shares a workspace and invites', async () => {
    expect(await anna('workspace', 'invite', 'ben@example.org')).toMatch(
      /^1 svc: this is a personal workspace: promote it/,
    )
    expect(await anna('workspace', 'promote', 'Acme')).toBe(
      `Acme can be shared: \`${svc} workspace invite EMAIL\` invites a member\n`,
    )
    expect(await anna('workspace', 'invite', 'Ben@example.org')).toMatch(
      /^invitation in Acme offered to ben@example\.org until 2/,
    )
    expect(await anna('workspace', 'invite', 'cleo@example.org', '--role', 'auditor')).toMatch(
      /^invitation in Acme offered/,
    )
    expect(mails.mailsTo('ben@example.org').at(-1)).toContain(
      'anna@example.org invites you to join a workspace: "Acme"',
    )
    expect(await anna('workspace', 'invite', 'dan@example.org', '--role', 'emperor')).toMatch(
      /^2 error: option '--role <role>' argument 'emperor' is invalid\. Allowed choices are member, auditor\./,
    )
    expect(await anna('workspace', 'offer', 'boss', 'ben@example.org')).toMatch(
      /^2 error: .*admin, transfer, successor/,
    )
    expect(await anna('workspace', 'invite', 'ben')).toMatch(/^1 svc: `?email/)
  })

  it('makes a person who accepts a member, with the workspace as current', async () => {
    expect(await ben('workspace', 'offers')).toMatch(
      /^to you:\n {2}off_\S+ +pending +invitation +member +ben@example.org +Acme\n/,
    )
    const accepted = await ben('workspace', 'accept')
    expect(accepted).toBe('the current workspace is Acme, your role is member\n')
    expect(await ben('workspace', 'accept')).toBe('1 svc: there is no pending offer to you\n')
    expect(await ben('whoami')).toMatch(/: Acme \(org_[0-9a-f]+\), member\n$/)
    expect(await ben('workspace', 'offers')).toBe('to you: none\n')
    expect(await ben('workspace', 'offers', '--all')).toContain('accepted')
    expect(await cleo('workspace', 'accept')).toBe('the current workspace is Acme, your role is auditor\n')
    expect(await anna('workspace', 'members')).toBe(
      'Acme:\nanna@example.org  owner\nben@example.org   member\ncleo@example.org  auditor\n',
    )
    expect(await cleo('workspace', 'use', 'Nowhere')).toMatch(
      /^1 svc: `Nowhere` is not the id or name of a workspace of yours/,
    )
  })

  it('suspends a member from the next command on, and ends the suspension', async () => {
    expect(await anna('workspace', 'suspend', 'cleo@example.org')).toBe('cleo@example.org is suspended\n')
    expect(await cleo('workspace', 'members')).toMatch(/^1 svc: this account is suspended/)
    expect(await anna('workspace', 'members')).toContain('suspended since')
    expect(await anna('workspace', 'unsuspend', 'cleo@example.org')).toBe('cleo@example.org is no longer suspended\n')
    expect(await cleo('workspace', 'members')).toContain('cleo@example.org')
    expect(await anna('workspace', 'suspend', 'missing@example.org')).toMatch(
      /^1 svc: `missing@example.org` is not the address of a member of Acme/,
    )
    expect(await ben('workspace', 'suspend', 'cleo@example.org')).toBe(
      '1 svc: this needs the role owner or admin: your role in this workspace is member\n',
    )
  })

  it('lets an auditor download a bundle and verify it', async () => {
    const trust = join(folders[2] ?? '', 'trust.policy')
    const bundle = join(folders[2] ?? '', 'january.zip')
    const printed = await vi.waitFor(async () => {
      const text = (await cleo('checkpoint')) ?? ''
      if (!text.includes('log ')) throw new Error(text)
      return text
    }, soon)
    expect(printed).toMatch(
      /^# \d+ entries signed on 2.*\n# compare the fingerprint.*\n# fingerprint .*; signs from the beginning\nlog \S+\+[0-9a-f]{8}\+\S+\n$/,
    )
    writeFileSync(trust, printed)
    expect(await cleo('bundle', '--from', '2020-01-01', '--out', bundle)).toBe(
      `${bundle}: the log of Acme; verify it with \`${svc} verify ${bundle} --trust trust.policy\`\n`,
    )
    expect(await cleo('verify', bundle, '--trust', trust)).toContain(': valid\n')
    expect(statSync(bundle).mode & 0o077).toBe(0)
    expect(await ben('bundle', '--out', bundle)).toMatch(/^1 svc: this needs the role owner, admin or auditor/)
    expect(await cleo('bundle', '--report', 'rep_none', '--out', bundle)).toMatch(/^1 svc: no report `rep_none`/)
    expect(await cleo('bundle', '--report', 'rep_none', '--from', '2020-01-01')).toMatch(/^1 svc: give either/)
    expect(await cleo('bundle', '--from', 'yesterday', '--out', bundle)).toMatch(/^1 svc: .*from/)
    expect(await cleo('verify', bundle, '--trust', trust)).toContain(': valid\n')
  })

  it('makes a member an admin, who creates keys', async () => {
    expect(await anna('workspace', 'offer', 'admin', 'ben@example.org')).toMatch(/^admin in Acme offered/)
    expect(await ben('workspace', 'accept')).toBe('accepted: admin in Acme\n')
    expect(await ben('workspace', 'role', 'cleo@example.org', 'member')).toBe(
      'the role of cleo@example.org is member\n',
    )
    const key = (await ben('key', 'create', 'support agents', '--scopes', 'ingest'))?.split('\n')[1] ?? ''
    const register = async () =>
      (await platform.call('POST', '/api/v1/agents', { as: key, body: { agent_key: 'support' } })).status
    expect(await register()).toBe(201)
    const { api_keys } = JSON.parse((await ben('key', 'list', '--json')) ?? '') as ApiKeyList
    const id = api_keys.find(({ name }) => name === 'support agents')?.id ?? ''
    expect(await ben('key', 'roll', id)).toMatch(
      /^support agents for Acme {2}\(key_\S+\), shown only once:\nSvcKey-\S{43}\n$/,
    )
    expect(await ben('key', 'revoke', 'support agents')).toBe('support agents is revoked\n')
    expect(await ben('key', 'list')).toMatch(/support agents {2}ingest {2}revoked 2/)
    expect(await cleo('key', 'list')).toMatch(
      /^1 svc: this needs the role owner or admin: your role in this workspace is member/,
    )
  })

  it('transfers the ownership, and lets the previous owner leave', async () => {
    expect(await anna('workspace', 'leave')).toMatch(/^1 svc: transfer the ownership first/)
    expect(await ben('workspace', 'offer', 'transfer', 'ben@example.org')).toMatch(
      /^1 svc: this needs the role owner: your role in this workspace is admin/,
    )
    expect(await anna('workspace', 'offer', 'transfer', 'ben@example.org')).toMatch(/^transfer in Acme offered/)
    expect(await ben('workspace', 'accept')).toBe('accepted: transfer in Acme\n')
    expect(await anna('workspace', 'leave')).toBe('you have left Acme\n')
    expect(await ben('workspace', 'remove', 'cleo@example.org')).toBe('cleo@example.org is removed\n')
    expect(await ben('workspace', 'members')).toBe('Acme:\nben@example.org  owner\n')
    expect(await anna('workspace', 'list')).not.toContain('Acme')
    const { workspaces } = JSON.parse((await ben('whoami', '--json')) ?? '') as Account
    expect(workspaces.map(({ name, role }) => [name, role])).toContainEqual(['Acme', 'owner'])
  })
})

describe('svc account', () => {
  it('ends the account after its address confirms it, and removes the session', async () => {
    expect(await ben('account', 'end', 'ben@example.org')).toBe('your account has ended\n')
    expect(await ben('whoami')).toMatch(/^1 svc: you are not logged in: run `npx --no-install svc login`/)
    expect(await cleo('account', 'end', 'ben@example.org')).toMatch(/^1 svc: `email`: must be the address/)
    expect(await cleo('whoami')).toMatch(/^cleo@example\.org at /)
  })
})
