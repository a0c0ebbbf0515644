// What a platform made of spans, in short form.
import type { AgentList, IncidentList, LogDetail, TaskChain, Verification } from '@svc/schemas'
import { expect } from 'vitest'
import type { TestPlatform } from '../server/platform.js'

/** The steps of a task in the order of their arrival, which are numbered from 1: type, verb, name, and the text of messages. */
export async function stepsOf(platform: TestPlatform, task_id: string): Promise<string[]> {
  const details = await detailsOf(platform, task_id)
  expect(details.map(({ step }) => step)).toEqual(details.map((_, index) => index + 1))
  return details.map(({ step_type, verb, step_name, input, output, properties }) => {
    const { kind } = Object(properties?.counterpart) as { kind?: string }
    const content = Object(input).content ?? Object(output).content
    const said = kind === undefined ? [] : content === undefined ? [kind] : [`${kind}:`, content]
    const sub = Object(properties?.svc).subagent === undefined ? null : 'sub'
    return [step_type, sub, verb, step_name, ...said].filter((part) => part !== null && part !== undefined).join(' ')
  })
}

export async function detailsOf(platform: TestPlatform, task_id: string): Promise<LogDetail[]> {
  const { body } = await platform.call<TaskChain>('GET', `/api/v1/tasks/${encodeURIComponent(task_id)}/chain`)
  const read = ({ log_id }: { readonly log_id: string }) => platform.call<LogDetail>('GET', `/api/v1/logs/${log_id}`)
  return Promise.all((body.entries ?? []).map(async (entry) => (await read(entry)).body))
}

export async function isValid(platform: TestPlatform, task_id: string): Promise<boolean> {
  const { body } = await platform.call<Verification>('GET', `/api/v1/tasks/${encodeURIComponent(task_id)}/verify`)
  return body.valid
}

/** The policies of the incidents of an agent. */
export async function incidentsOf(platform: TestPlatform, agent_key: string): Promise<string[]> {
  const { agents } = (await platform.call<AgentList>('GET', `/api/v1/agents?q=${agent_key}`)).body
  const id = agents.find((agent) => agent.agent_key === agent_key)?.agent_id
  const { incidents } = (await platform.call<IncidentList>('GET', `/api/v1/incidents?agent_id=${id}`)).body
  return [...new Set(incidents.filter(({ task_id }) => task_id !== null).map(({ policy_name }) => policy_name))]
}

/** The steps of `agentLoop`. */
export const loopSteps = [
  'task.start',
  'step.message GET user: Where is my order?',
  'step.model POST m-1',
  'step.resource GET read_order',
  'step.model POST m-1',
  'step.message POST user: It arrives tomorrow.',
  'task.end',
]
