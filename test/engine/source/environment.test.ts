// Environment variables: each one that is read is listed, and a misspelt name is reported.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unknownVariables, variables } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { runSvc } from '../../support/cli/svc.js'
import { freePort } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const sources = ['proof', 'engine', 'cli', 'platform', 'app', 'action'].flatMap((name) =>
  readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(path) && path !== 'environment.ts')
    .map((path) => readFileSync(join(root, name, path), 'utf8')),
)

describe('the list of environment variables', () => {
  it('matches the code, with a meaning for each', () => {
    const read = new Set(sources.flatMap((text) => text.match(/\bSVC_[A-Z_]*[A-Z]\b/g) ?? []))
    expect(Object.keys(variables).sort()).toEqual([...read].sort())
    for (const meaning of Object.values(variables)) expect(meaning).toMatch(/^[^A-Z ].{10,}[^.]$/)
  })
})

describe('an unknown variable', () => {
  it.each([
    ['SVC_DATABSE_URL', '; did you mean `SVC_DATABASE_URL`?'],
    ['SVC_ENCRYPTION_KEYS', '; did you mean `SVC_ENCRYPTION_KEY`?'],
    ['SVC_SOMETHING_ELSE_ALTOGETHER', ''],
  ])('is reported: %s', (name, question) => {
    const env = { [name]: 'a secret value', SVC_PORT: '1', svc_port: '1', PATH: '/bin' }
    expect(unknownVariables(env)).toEqual([
      `the environment variable \`${name}\` is unknown and has no effect${question}`,
    ])
  })

  it('is reported by `svc serve` and by the platform, without its value', async () => {
    const env = { SVC_API_KEYS: 'a-secret-value', SVC_PORT: 'none' }
    const serve = await runSvc(['serve', '--policy-file', '/nowhere', '--port', String(await freePort())], env)
    const started = await runPlatform(['start'], env)
    for (const { stderr } of [serve, started]) {
      expect(stderr).toContain(
        'warning: the environment variable `SVC_API_KEYS` is unknown and has no effect; did you mean `SVC_API_KEY`?',
      )
      expect(stderr).not.toContain('a-secret-value')
    }
  })
})
