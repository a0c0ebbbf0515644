// What the App asks GitHub for: app.yml and the form say the same, and the commands of the documentation read GitHub's answer.
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { blocksOf } from '../support/people/page.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(root + path, 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'svc-create-app-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the App', () => {
  const asked = parse(read('app/app.yml')) as Record<string, unknown>

  it('is described the same in app.yml and in the form', () => {
    const [, form = ''] =
      /<script type="application\/json" id="manifest">([\s\S]*?)<\/script>/.exec(read('app/create-app.html')) ?? []
    expect(JSON.parse(form)).toEqual(asked)
  })

  it('can write check runs and nothing else', () => {
    expect(asked).toMatchObject({
      public: false,
      default_permissions: {
        metadata: 'read',
        contents: 'read',
        checks: 'write',
        pull_requests: 'read',
        merge_queues: 'read',
      },
    })
    const written = Object.entries(asked.default_permissions as object).filter(([, level]) => level !== 'read')
    expect(written).toEqual([['checks', 'write']])
  })

  it('does not subscribe to events that GitHub sends to every App', () => {
    expect(asked.default_events).not.toEqual(expect.arrayContaining([expect.stringMatching(/^installation/)]))
  })
})

describe('docs/github-app.md', () => {
  it('makes the variables from the answer of GitHub as printed', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    writeFileSync(join(folder, 'github-app.json'), JSON.stringify({ id: 1207, pem, webhook_secret: 'f00d'.repeat(10) }))
    const commands = blocksOf('docs/github-app.md').find((block) => block.commands.includes('github-app.env'))?.commands
    const shown = execFileSync(
      'bash',
      ['-c', `${commands}\n. ./github-app.env\nnode -p 'JSON.stringify(process.env)'`],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env.PATH },
      },
    )
    const env = JSON.parse(shown) as Record<string, string>
    expect([env.SVC_GITHUB_APP_ID, env.SVC_GITHUB_APP_WEBHOOK_SECRET]).toEqual(['1207', 'f00d'.repeat(10)])
    expect(Buffer.from(env.SVC_GITHUB_APP_PRIVATE_KEY ?? '', 'base64').toString()).toBe(pem)
  })
})
