// The list of tasks and the page of a task: where it went wrong, its steps, its neighbours, and the check of its record.
import type { LoggedStep } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent, violate } from '../../support/http/actions.js'
import { hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'

const timestamp = '2026-01-05T09:00:00Z'

let team: Team
const log = async (task_id: string, ...steps: readonly object[]) => {
  for (const [index, step] of steps.entries()) {
    const body = { task_id, step: index + 1, timestamp, ...step }
    const { status } = await team.platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
    expect(status).toBe(201)
  }
}
const start = { step_type: 'task.start' }
const end = { step_type: 'task.end' }
const read = { step_type: 'step.resource', verb: 'GET', step_name: 'read_order', input: { order: 1207 } }
const shell = { step_type: 'step.exec', step_name: 'shell', properties: { exec: { command: 'make' } } }
const gate = { step_type: 'step.gate', properties: { guard: { check_type: 'human_approval', result: 'passed' } } }

beforeAll(async () => {
  team = await startTeam()
  await registerAgent(team.platform)
  await log('honest', start, read, gate, shell, end)
  await log('wrong', start, read, shell, { ...shell, output: { status: 'blocked' } }, end)
  await log('running', start, read)
})
afterAll(() => team.close())

describe('the page of a task', () => {
  it('says first which steps violate a policy, whether they ran, and what would have made them right', async () => {
    const { status, text } = await team.look('/tasks/wrong')
    expect(status).toBe(200)
    const summary = text.slice(0, text.indexOf('Is the record genuine?'))
    for (const shown of [
      '2 steps of 5 violate a policy',
      'Step 3: shell',
      'ran without the approval that it needs',
      'stopped before it ran',
      'no step.gate came before this step',
      'a passed step.gate at most 3 steps before this step',
      'Code runs only after a gate',
    ])
      expect(summary).toContain(shown)
    expect(summary.indexOf('ran without')).toBeLessThan(summary.indexOf('stopped before'))
  })

  it('says of a task without violations what was checked, and no more', async () => {
    const { text } = await team.look('/tasks/honest')
    expect(text).toContain('None of the 5 recorded steps violates a policy that was in force when it was logged.')
    expect(text).not.toContain('What would make it right')
  })

  it.each([
    ['all steps', '', ['task.start', 'read_order', 'shell', 'shell', 'task.end']],
    ['violations only', '?only=violating', ['shell', 'shell']],
    ['tools only', '?only=tools', ['read_order', 'shell', 'shell']],
  ])('shows %s', async (_, query, names) => {
    const { text } = await team.look(`/tasks/wrong${query}`)
    const shown = [...text.matchAll(/class="step-number">\d+<\/span><strong><bdi>([^<]+)</g)].map(([, name]) => name)
    expect(shown).toEqual(names)
  })

  it('shows payloads, hashes and the way to the proof of each step, and the entry as JSON', async () => {
    const { text } = await team.look('/tasks/honest?view=full')
    expect(text).toContain('&quot;order&quot;: 1207')
    expect(text).toMatch(/<details open>/)
    expect(text).toContain('not yet in a signed checkpoint')
    const record = /href="(\/api\/v1\/logs\/[^"]+)"/.exec(text)?.[1] ?? ''
    expect((await team.look(record)).status).toBe(200)
    expect((await team.look('/tasks/honest?view=json')).text).toContain('&quot;prev_hash&quot;: &quot;&quot;')
  })

  it('has words for no steps', async () => {
    expect((await team.look('/tasks/honest?only=violating')).text).toContain('no steps match')
    expect((await team.look('/tasks?q=absent')).text).toContain('no rows')
    for (const path of ['/tasks/honest?only=violating', '/tasks?q=absent', '/stops', '/'])
      expect((await team.look(path)).text).not.toMatch(/>0 (of|row|step|violation)/)
  })

  it('marks the step that a link led to', async () => {
    const { text } = await team.look('/tasks/wrong?around=4')
    expect(text.match(/<li id="step-\d+" class="[^"]*marked"/g)).toEqual(['<li id="step-4" class="bad marked"'])
    const unknown = await team.look('/tasks/wrong?around=99')
    expect([unknown.status, unknown.text]).toEqual([422, expect.stringContaining('role="alert"')])
  })

  it('is live while the task runs, and says so nowhere else', async () => {
    expect((await team.look('/tasks/running')).text).toContain('hx-trigger="every 5s"')
    expect((await team.look('/tasks/honest')).text).not.toContain('hx-trigger="every 5s"')
  })

  it('leads to the tasks before and after it in the list that it was opened from', async () => {
    const near = async (path: string) => {
      const { text } = await team.look(path)
      return ['prev', 'next'].map((rel) => new RegExp(`rel="${rel}" href="([^"?]+)`).exec(text)?.[1] ?? null)
    }
    expect(await near('/tasks/wrong')).toEqual(['/tasks/running', '/tasks/honest'])
    expect(await near('/tasks/wrong?status=completed')).toEqual([null, '/tasks/honest'])
    expect(await near('/tasks/wrong?violating=true&view=full')).toEqual([null, null])
    expect((await team.look('/tasks/wrong?status=completed')).text).toContain('href="/tasks?status&#x3D;completed"')
  })

  it('checks the record when asked, and states what is signed', async () => {
    const { text } = await team.look('/tasks/honest?verify=1', 'auditor')
    expect(text).toContain('No alteration was found')
    expect(text).toContain('5 entries were read again: each hash, link and payload matches its record.')
    expect(text).toContain('No signed checkpoint of the log covers the task yet.')
    expect(text).toContain('An auditor verifies the evidence below offline')
    expect(text).toContain('No checkpoint of the log is signed yet')
    expect(text).not.toContain('/api/v1/log/bundle')
  })

  it('reports a step that never arrived', async () => {
    await log('gap', start)
    const body = { task_id: 'gap', step: 3, timestamp, ...read }
    await team.platform.call('POST', '/api/v1/logs', { as: 'key', body })
    const { text } = await team.look('/tasks/gap?verify=1')
    expect(text).toContain('No alteration was found')
    expect(text).toContain('Steps out of sequence (1 gaps in the step numbers); this is not tampering.')
    expect(text).toContain('Step 1: step 2 never arrived')
  })

  it('says of erased payloads that they are erased', async () => {
    await log('erased', start, { ...read, input: { order: 'secret' } })
    await team.platform.call('POST', '/api/v1/erasures', {
      body: { task_id: 'erased', legal_basis: 'GDPR Art. 17(1)(b)' },
    })
    const { text } = await team.look('/tasks/erased?view=full')
    expect(text).toContain('Its payload was erased; its hash stays in the chain.')
    expect(text).not.toContain('secret')
    const checked = await team.look('/tasks/erased?verify=1')
    expect(checked.text).toContain('No payloads are kept, 2 payloads were erased.')
  })

  it('shows hostile texts as texts', async () => {
    await log(`a ${hostile}`, { ...shell, step_name: hostile, input: { [hostile]: hostile, rtl: '\u202eabc' } })
    for (const view of ['compact', 'full', 'json']) {
      const { status, text } = await team.look(`/tasks/${encodeURIComponent(`a ${hostile}`)}?view=${view}`)
      expect([status, injectedIn(text)]).toEqual([200, []])
    }
    expect(injectedIn((await team.look('/tasks')).text)).toEqual([])
  })

  it('does not exist for a person of another workspace', async () => {
    await violate(team.platform, 'theirs')
    const { status, text } = await team.look('/tasks/theirs', 'stranger')
    expect([status, text.includes('Code runs')]).toEqual([404, false])
    expect((await team.look('/tasks/theirs?verify=1', 'stranger')).status).toBe(404)
    expect((await team.look('/tasks', 'stranger')).text).not.toContain('theirs')
  })
})

describe('the list of steps', () => {
  it('names approvals with their question and who answered, and leads to the step in its task', async () => {
    const answered = { input: { question: 'pay 40 EUR?' }, output: { answered_by: 'anna@example.org' } }
    await log('approved', start, { ...gate, ...answered }, end)
    const { status, text } = await team.look('/steps?step_type=step.gate')
    expect(status).toBe(200)
    expect(text).toContain('human_approval: passed')
    expect(text).toContain('question: pay 40 EUR? · answered_by: anna@example.org')
    expect(text).toContain('href="/tasks/approved?around&#x3D;2#step-2"')
    expect(text).not.toContain('read_order')
    expect((await team.look('/steps', 'stranger')).text).not.toContain('approved')
  })
})
