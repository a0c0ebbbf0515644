// A platform on which tests write policies by the API, and see what they do.
import type {
  EffectivePolicies,
  Evaluation,
  EventList,
  IncidentList,
  JsonMap,
  LoggedStep,
  Policy,
  PolicyList,
  Problem,
  RegisteredAgent,
} from '@svc/schemas'
import { expect } from 'vitest'
import type { Answer, TestPlatform } from '../server/platform.js'

export type PolicyAnswer = Answer<Policy & Problem>

/** Refunds have an amount: violated by `refund` without one. */
export const amounts = {
  name: 'Refunds have an amount',
  rule_type: 'field_not_empty',
  params: { field: 'input.amount', target_step_names: ['refund'] },
  scope: 'step_execution',
  severity: 'high',
}

/** Refunds of a task: violated by the one after `max`. */
export const atMost = (max: number) => ({
  name: `At most ${max} refunds`,
  rule_type: 'execution_max_steps',
  params: { step_type: { step_names: ['refund'] }, max_steps: max },
  scope: 'step_execution',
  severity: 'high',
})

export function policyCalls(platform: () => TestPlatform) {
  const call = <T>(method: string, path: string, options: object = {}) => platform().call<T>(method, path, options)
  const root = '/api/v1/policies'
  const created = async (body: object) => {
    const answer: PolicyAnswer = await call('POST', root, { body })
    expect([answer.status, answer.body]).toEqual([201, expect.anything()])
    return answer.body
  }
  const numbers = new Map<string, number>()
  return {
    create: (body: object, as = 'operator'): Promise<PolicyAnswer> => call('POST', root, { body, as }),
    created,
    get: async (id: number): Promise<PolicyAnswer> => call('GET', `${root}/${id}`),
    change: (id: number, body: JsonMap, headers = {}): Promise<PolicyAnswer> =>
      call('PATCH', `${root}/${id}`, { body, headers }),
    move: (id: number, verb: 'enable' | 'disable', headers = {}): Promise<PolicyAnswer> =>
      call('POST', `${root}/${id}/${verb}`, { headers }),
    remove: (id: number, headers = {}): Promise<PolicyAnswer> => call('DELETE', `${root}/${id}`, { headers }),
    list: async (query: string) => {
      const { status, body } = await call<PolicyList>('GET', `${root}?limit=200&${query}`)
      expect(status).toBe(200)
      return body.policies
    },
    events: async (id: number) => {
      const { body } = await call<EventList>('GET', `/api/v1/events?subject=${id}&limit=200`)
      return body.events.filter(({ subject_kind }) => subject_kind === 'policy').reverse()
    },
    register: async (agent_key: string, more: object = {}) =>
      (await call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body: { agent_key, ...more } })).body,
    incidents: async (policy_id: number) =>
      (await call<IncidentList>('GET', `/api/v1/incidents?policy_id=${policy_id}`)).body.incidents,
    /** Logs refunds; the names of the policies that the last one violates, without those of the baseline. */
    refund: async (agent_id: string, task_id: string, times = 1, input: JsonMap = {}) => {
      let names: string[] = []
      for (let time = 0; time < times; time++) {
        const step = (numbers.get(task_id) ?? 0) + 1
        numbers.set(task_id, step)
        const act = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input }
        const body = { agent_id, task_id, step, timestamp: '2026-01-05T09:00:00Z', ...act }
        const answer = await call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
        expect([answer.status, answer.body]).toEqual([201, answer.body])
        names = answer.body.violations.flatMap(({ name, manifest_id }) => (manifest_id === null ? [name] : []))
      }
      return names
    },
    evaluate: async (agent_id: string, task_id: string) => {
      const intended = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: {} }
      const body = { intended, context: { agent_id, task_id, environment: 'production' } }
      const { status, body: answer } = await call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })
      expect([status, answer]).toEqual([200, expect.anything()])
      return answer.policies
        .filter(({ violated, manifest_id }) => violated && manifest_id === null)
        .map(({ name }) => name)
    },
    /** The policies that a local engine gets, without those of manifests. */
    effective: async (agent_key: string, etag = '') => {
      const headers = etag === '' ? {} : { 'if-none-match': etag }
      const path = `${root}/effective?agent_key=${agent_key}`
      const answer = await call<EffectivePolicies>('GET', path, { as: 'key', headers })
      const own = answer.status === 304 ? [] : answer.body.policies.filter(({ manifest_id }) => manifest_id === null)
      return { status: answer.status, etag: answer.headers.get('etag') ?? '', names: own.map(({ name }) => name) }
    },
  }
}
