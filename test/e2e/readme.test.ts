// The commands of README.md and of the pages for users run as printed, in order, and print the output that the page shows; so do
// the commands that a start prints.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseManifest, runTests } from '@svc/engine'
import type { OfferList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { logIn, signIn } from '../support/people/local-login.js'
import { startMailServer } from '../support/people/mail.js'
import { blocksOf, makeClone, matches, openTerminal, type Terminal } from '../support/people/page.js'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, runPlatform, startProcess } from '../support/server/process.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Commands of the command line alone, in many processes. */
const longPages = ['docs/policy-authors.md', 'docs/protecting-agents.md']
/** The full suite runs all pages. */
const isAll = process.env.SVC_ALL_PAGES === '1'
const has = (name: string) => spawnSync(name, ['--version']).status === 0
const hasShell = ['bash', 'curl'].every(has)
const hasPython = has('python3')

describe.skipIf(!hasShell)('the documentation', () => {
  const clone = mkdtempSync(join(tmpdir(), 'svc-readme-'))
  const ports = { engine: 0, platform: 0 }
  let env: Record<string, string>
  let platform: PlatformProcess
  let cookie: string
  let loggedIn: string | undefined

  beforeAll(async () => {
    ports.platform = await freePort()
    const path = makeClone(clone)
    const own = { SVC_DATA_DIR: join(clone, 'data'), SVC_PORT: String(ports.platform), SVC_CHECKPOINT_SECONDS: '1' }
    platform = await startProcess(own)
    env = { ...own, PATH: path, SVC_CONFIG_DIR: join(clone, 'config'), SVC_API_URL: platform.url }
  })
  afterAll(async () => {
    await platform.terminate()
    rmSync(clone, { recursive: true, force: true })
  })

  /** The text with the ports of this test for the usual ones. */
  const here = (text: string) => text.replaceAll(':8765', `:${ports.engine}`).replaceAll(':8080', `:${ports.platform}`)
  const asPrinted = (text: string) =>
    text.replaceAll(`:${ports.engine}`, ':8765').replaceAll(`:${ports.platform}`, ':8080')

  const perform = async (terminal: Terminal, commands: string): Promise<string> => {
    if (commands.startsWith('npm ci')) return ''
    if (commands.startsWith('npm start')) {
      await terminal.stop()
      return platform.printed
    }
    if (/^(export .*\n)*npx --no-install svc serve/.test(commands))
      return terminal.serve(`${here(commands.trim())} --port ${ports.engine}`)
    // A terminal stays logged in, and each login waits for five seconds.
    if (commands.startsWith('npx --no-install svc login')) {
      loggedIn ??= await logIn(platform, cookie, env)
      return loggedIn
    }
    return terminal.run(here(commands))
  }
  const follow = async (page: string) => {
    ports.engine = await freePort()
    const terminal = openTerminal(clone, env)
    try {
      for (const { commands, output } of blocksOf(page)) {
        const printed = asPrinted(await perform(terminal, commands))
        if (output !== null && !matches(printed, output))
          expect.fail(`${page} shows for\n\n${commands}\n${output}\nand this was printed:\n\n${printed}`)
      }
    } finally {
      await terminal.close()
    }
  }

  const run = (command: string) =>
    JSON.parse(execFileSync('bash', ['-c', command], { encoding: 'utf8', cwd: clone })) as Record<string, unknown>
  const tryPrinted = (status: string) => {
    const commands = platform.printed.split('\n').map((line) => line.trim())
    const [register = '', log = '', verify = ''] = commands.filter((line) => line.startsWith('curl'))
    expect(run(register)).toMatchObject({ registration_status: status, violations: [] })
    expect(run(log)).toMatchObject({ task_id: 'first-task', step: 1, seq: 1, prev_hash: '' })
    expect(run(verify)).toMatchObject({ valid: true, entries: 1 })
  }

  it('starts a platform that prints commands which work', () => tryPrinted('created'))

  it('signs the owner in by the link that is printed', async () => {
    cookie = await signIn(platform)
  })

  it.each([
    'README.md',
    'docs/developers.md',
    ...(isAll && hasPython ? ['docs/connecting.md'] : []),
    ...(isAll ? [...longPages, 'docs/written-policies.md'] : []),
    'docs/workspaces.md',
    'docs/incidents.md',
    // The first one stops the agent of the page before it, with the login of docs/workspaces.md.
    ...(isAll ? ['docs/stop.md', 'docs/auditors.md', 'examples/README.md'] : []),
  ])('works as printed in %s', async (page) => {
    expect(blocksOf(page).length).toBeGreaterThanOrEqual(3)
    await follow(page)
  })

  it('starts a platform that prints working commands the second time, and mails an invited person a link', async () => {
    const mails = await startMailServer()
    expect(await platform.terminate()).toBe(0)
    platform = await startProcess({ ...env, SVC_SMTP_URL: mails.url })
    tryPrinted('updated')
    const { post, get } = clientOf(platform)
    expect((await post('/auth/magic-link', { email: 'mia@example.org' })).status).toBe(202)
    const mia = await post('/auth/magic-link/verify', { token: await mails.tokenFor('mia@example.org') })
    const { offers } = await get<OfferList>('/auth/offers', mia.body.access_token)
    expect(offers).toMatchObject([{ workspace: 'Acme Compliance', role: 'auditor', state: 'pending' }])
    const accepted = await post(`/auth/offers/${offers[0]?.id}/accept`, {}, mia.body.access_token)
    expect(accepted.body.state).toBe('accepted')
    await mails.close()
  })
})

describe('a command that the documentation names', () => {
  const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  const groups = [
    ['svc'],
    ['svc', 'workspace'],
    ['svc', 'key'],
    ['svc', 'account'],
    ['svc-platform'],
    ['svc-platform', 'admin'],
  ]

  it('exists', async () => {
    const helps = new Map(
      await Promise.all(groups.map(async (group) => [group.join(' '), await helpOf(group)] as const)),
    )
    const isUnknown = (words: readonly string[]) => {
      const group = words.length > 2 && helps.has(words.slice(0, 2).join(' ')) ? words.slice(0, 2) : words.slice(0, 1)
      const name = words[group.length] ?? ''
      return /^[a-z][a-z-]+$/.test(name) && !new RegExp(`^  ${name}( |$)`, 'm').test(helps.get(group.join(' ')) ?? '')
    }
    const named = pages.filter((page) => page.endsWith('.md')).flatMap((page) => commandsIn(page))
    expect(named.length).toBeGreaterThan(20)
    expect(
      named.filter(({ words }) => isUnknown(words)).map(({ page, words }) => `${page}: ${words.join(' ')}`),
    ).toEqual([])
  })
})

/** Calls of `svc` and `svc-platform` in code of a page, as words. */
function commandsIn(page: string): { page: string; words: string[] }[] {
  const text = readFileSync(join(root, page), 'utf8')
  const calls = /(?:`|install )(svc|svc-platform)((?: [a-z][a-z-]*)+)/g
  return [...text.matchAll(calls)].map(([, program = '', rest = '']) => ({
    page,
    words: [program, ...rest.trim().split(' ')],
  }))
}

async function helpOf([program, ...group]: readonly string[]): Promise<string> {
  const run = program === 'svc' ? runSvc : runPlatform
  return (await run([...group, '--help'], {})).stdout
}

describe('the manifests of a page', () => {
  it.each([
    { page: 'docs/policy-authors.md', count: 4 },
    { page: 'docs/developers.md', count: 1 },
    { page: 'docs/protecting-agents.md', count: 1 },
  ])('are valid without a warning, and their tests pass: $page', ({ page, count }) => {
    const manifests = manifestsIn(readFileSync(join(root, page), 'utf8'))
    expect(manifests).toHaveLength(count)
    for (const manifest of manifests) {
      const { value, errors, warnings } = parseManifest(manifest, page)
      expect([errors, warnings]).toEqual([[], []])
      const failures = value === null ? ['no manifest'] : runTests(value).flatMap((result) => result.failures)
      expect(failures).toEqual([])
    }
  })
})

/** The manifests that a page shows, and those that its commands write. */
function manifestsIn(text: string): string[] {
  const blocks = [/```yaml\n([\s\S]*?)```/g, /^cat > \S+\.yaml <<'END'\n([\s\S]*?)^END$/gm]
  const found = blocks.flatMap((block) => [...text.matchAll(block)].map(([, manifest = '']) => manifest))
  return found.filter((manifest) => /^policies:/m.test(manifest))
}

function clientOf({ url }: PlatformProcess) {
  const headersFor = (token?: string) => (token === undefined ? {} : { authorization: `Bearer ${token}` })
  return {
    get: async <Body>(path: string, token?: string) =>
      (await (await fetch(`${url}${path}`, { headers: headersFor(token) })).json()) as Body,
    post: async (path: string, sent: object, token?: string) => {
      const headers = { 'content-type': 'application/json', ...headersFor(token) }
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(sent) })
      const text = await answer.text()
      return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, string> }
    },
  }
}
