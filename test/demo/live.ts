// Tasks of an agent behind its local engine, which asks before each step: the acts are those of recorded runs.
import type { Evaluation } from '@svc/schemas'
import type { Serve } from '../support/engine/serve.js'
import type { RecordedStep } from './history.js'

/** Acts until the engine blocks a step. The step is recorded as blocked; with `ends` the task is over then. */
export async function actLive(engine: Serve, run: readonly RecordedStep[], task_id: string, ends: boolean) {
  for (const { timestamp: _, step: _number, output, meta, ...rest } of run) {
    const intended = { ...rest, task_id }
    const record = (more: object) => post(engine, '/record', { step: { ...intended, ...more }, end: ends })
    if (/^task\./.test(rest.step_type)) {
      await record({ output, meta })
      continue
    }
    const context = { agent_id: rest.agent_id, task_id, environment: 'production' }
    const { blocked, evaluation_id } = await post<Evaluation>(engine, '/evaluate', { intended, context })
    await record({ output: blocked ? { status: 'blocked' } : output, meta: { evaluation_id } })
    if (blocked) return
  }
}

async function post<T>(engine: Serve, path: string, body: object): Promise<T> {
  const answer = await engine.post<T>(path, body)
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
