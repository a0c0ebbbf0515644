// A replay agrees with `svc explain`, and with what the local engine answered while the tasks ran.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseManifest, readTraceLine } from '@svc/engine'
import { baselineManifest } from '@svc/engine/baseline'
import type { ReplayLine } from '@svc/engine/parts'
import type { JsonMap, Manifest } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { registrationFacts } from '../../../engine/agent/registration.js'
import { domainNames, readDomain } from '../../protection/corpus.js'
import { play, policiesOf } from '../../protection/play.js'
import { runSvc } from '../../support/cli/svc.js'
import { explainedAnswers, namesOf, policiesIn, replayAnswers } from '../../support/engine/replay.js'
import { sharedData } from '../../support/server/shared.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const linesOf = (text: string): ReplayLine[] => text.split('\n').filter(Boolean).map(readTraceLine)

const runs = sharedData('agent-runs/airline-service.jsonl')

describe.skipIf(runs === null)('a replay of recorded runs', () => {
  it('blocks nothing under the baseline, and agrees with explain on every step', async () => {
    const steps = join(folder, 'steps.jsonl')
    const imported = await runSvc(['import', 'chat-completions', runs ?? '', '--out', steps])
    expect(imported.code, imported.stderr).toBe(0)
    const lines = linesOf(readFileSync(steps, 'utf8'))
    const { answers, result } = replayAnswers(lines, { policies: policiesIn(baselineManifest) })
    expect(result).toMatchObject({ tasks: 100, steps: 3241, unfinished_tasks: 0, blocked_tasks: 0, asked_tasks: 0 })
    const explained = explainedAnswers(lines, baselineManifest)
    expect(answers).toEqual(explained.answers)
    for (const { name, applicable } of result.policies)
      expect([name, applicable]).toEqual([name, explained.applicable.get(name) ?? 0])
  })
})

const domains = domainNames().map(readDomain)
const manifestOf = (name: string) =>
  readFileSync(new URL(`../../protection/${name}/manifest.yaml`, import.meta.url), 'utf8')

describe.each(domains)('a replay of the tasks of $name', ({ name, agent, paths }) => {
  const text = manifestOf(name)
  const own = parseManifest(text, 'manifest.yaml').value as Manifest
  const both = { ...own, policies: [...baselineManifest.policies, ...own.policies] }
  const terms = { policies: policiesOf([null, { path: 'manifest.yaml', text }], String(agent.agent_key)), agent }
  const facts: JsonMap = {
    ...registrationFacts(agent, String(agent.agent_key)),
    environment: agent.environment,
    risk_classification: agent.risk_classification ?? 'unclassified',
  }

  it('agrees with explain, and with the answers of the engine', async () => {
    for (const path of paths.filter((_, index) => index % 5 === 0)) {
      const { trace } = await play(path, { ...terms, tools_per_task: true })
      const lines = linesOf(trace.map((line) => JSON.stringify(line)).join('\n'))
      const { answers, result } = replayAnswers(lines, { policies: policiesIn(both), agent: facts })
      const explained = explainedAnswers(lines, both, facts)
      expect(answers, path.id).toEqual(explained.answers)
      const answered = trace.flatMap((line) => (line.kind === 'step' ? [evaluationIn(line.meta)] : []))
      expect(
        answers.map(({ violated }) => violated),
        path.id,
      ).toEqual(answered)
      expect(result.steps).toBe(answered.length)
    }
  })
})

/** The policies that the engine found violated. */
function evaluationIn(meta: JsonMap = {}): string[] {
  const { policies } = meta['svc.eval'] as { policies: { name: string; violated: boolean }[] }
  return namesOf(policies)
}
