// Recorded runs on a platform, under policies of every category, evaluated again from a bundle.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RegisteredAgent, RepositoryList } from '@svc/schemas'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runSvc } from '../../support/cli/svc.js'
import { fast } from '../../support/log/log.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedData } from '../../support/server/shared.js'

const library = fileURLToPath(new URL('../../../library', import.meta.url))
const examples = fileURLToPath(new URL('../../../examples/runs', import.meta.url))
const airline = sharedData('agent-runs/airline-service.jsonl')

/** Every manifest of the library, by its path in it. */
const manifests = ['compliance', 'developer', 'operational', 'security'].flatMap((folder) =>
  readdirSync(join(library, folder))
    .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml') && name !== 'agentic-baseline.yaml')
    .map((name) => `${folder}/${name}`),
)

describe('recorded runs', () => {
  let platform: TestPlatform
  beforeEach(async () => {
    platform = await startPlatform({ env: fast })
  })
  afterEach(() => discard(platform))

  const register = async (agent_key: string, more: object = {}) => {
    const body = { agent_key, purpose: 'serves customers', owner_id: 'mia', ...more }
    return (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
  }
  const assignAll = async (agent_id: string) => {
    const { body } = await platform.call<RepositoryList>('GET', '/api/v1/repos')
    const repo_id = body.repos[0]?.id
    for (const manifest_path of manifests) {
      const answer = await platform.call('POST', '/api/v1/assignments', { body: { agent_id, repo_id, manifest_path } })
      expect([answer.status, answer.body]).toEqual([201, expect.anything()])
    }
  }
  const importRuns = async (format: string, file: string, agent_key: string) => {
    const args = ['import', format, file, '--agent-key', agent_key, '--to', platform.url]
    const { code, stderr } = await runSvc(args, { SVC_API_KEY: platform.api_key })
    expect([code, stderr]).toEqual([0, ''])
  }

  it('give the recorded verdicts under the baseline', async () => {
    await importRuns('trace', examples, 'examples')
    if (airline !== null) await importRuns('chat-completions', airline, 'airline')
    const { steps } = await expectEqualVerdicts(platform)
    expect(steps).toBeGreaterThan(airline === null ? 100 : 3241)
  })

  it('give the recorded verdicts under every manifest of the library', async () => {
    await assignAll(await register('governed', { risk_classification: 'high', declared_tools: ['search'] }))
    await importRuns('trace', examples, 'governed')
    if (airline !== null) await importRuns('chat-completions', airline, 'governed')
    const { steps } = await expectEqualVerdicts(platform)
    expect(steps).toBeGreaterThan(airline === null ? 100 : 3241)
  })
})
