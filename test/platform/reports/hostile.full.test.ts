// Hostile texts from the API to each format: what the platform accepts comes back whole, and nothing breaks a report.
import type { RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reportJson, reportXml } from '../../../report/formats/oscal.js'
import { nastyTexts } from '../../support/engine/nasty-text.js'
import { contentOf, propertiesOfJson, propertiesOfTree, treeByXmlJs } from '../../support/reports/oscal.js'
import { openReportLog, startReportPlatform } from '../../support/reports/report-log.js'
import { discard, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startReportPlatform(null)
})
afterAll(() => discard(platform))

/** Whether the platform accepts it; what it does not accept is the fault of the request. */
async function accepts(path: string, body: object, as: 'key' | 'operator'): Promise<boolean> {
  const { status } = await platform.call('POST', path, { body, as })
  expect([200, 201, 400, 422]).toContain(status)
  return status < 300
}

/** Sends each text as a name, a task, a reason and a legal basis; returns those that are accepted as reasons and as bases. */
async function sendAll(agent_id: string) {
  const reasons: string[] = []
  const bases: string[] = []
  for (const [index, text] of nastyTexts.entries()) {
    const step = { agent_id, step: 1, timestamp: new Date().toISOString() }
    await accepts('/api/v1/agents', { agent_key: `agent ${index}`, name: text, purpose: text }, 'key')
    await accepts('/api/v1/logs', { ...step, task_id: `task ${index}`, step_type: text }, 'key')
    if (await accepts('/api/v1/holds', { task_id: `task ${index}`, reason: text }, 'operator')) reasons.push(text)
    if (!(await accepts('/api/v1/logs', { ...step, task_id: text, step_type: 'step.exec' }, 'key'))) continue
    if (await accepts('/api/v1/erasures', { task_id: text, legal_basis: text }, 'operator')) bases.push(text)
  }
  return { reasons, bases }
}

it('hostile texts that the API accepts survive in every format', async () => {
  const agent = { agent_key: 'a' }
  const { body } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body: agent })
  const { reasons, bases } = await sendAll(body.agent_id)
  expect(Math.min(reasons.length, bases.length)).toBeGreaterThan(15)
  const log = await openReportLog(platform)
  const plan = await log.plan({ format: 'pdf' })
  const data = await log.collect(plan)
  expect(data.integrity.verdict).toBe('whole')
  expect(data.retention.holds.rows.map(({ reason }) => reason)).toEqual(reasons)
  expect(data.retention.erasures.rows.map(({ legal_basis }) => legal_basis)).toEqual(bases)
  expect(contentOf(propertiesOfTree(treeByXmlJs(reportXml(data))))).toEqual(data)
  expect(contentOf(propertiesOfJson(JSON.parse(reportJson(data))))).toEqual(data)
  expect(Buffer.from((await log.make(plan)).bytes.subarray(0, 5)).toString()).toBe('%PDF-')
  await log.db.close()
})
