// New resources for the state tables of policies, incidents, actions, deliveries and stops.
import type { Action, Delivery, IncidentList, Policy, PolicyList, Stop } from '@svc/schemas'
import { inStates, makeAction } from './actions.js'
import { type Make, registered, type StateSite, violated } from './state-site.js'
import { amounts } from './written-policies.js'

const policyAt = (id: number | string) => `/api/v1/policies/${id}`

function stateOfPolicy({ callers }: StateSite, id: number | string) {
  return async () => {
    const { enabled, mode, deleted_at } = (await callers.default<Policy>('GET', policyAt(id))).body
    return deleted_at != null ? 'deleted' : !enabled ? 'disabled' : mode === 'observe' ? 'observed' : 'enabled'
  }
}

/** An action that only incidents of one new agent trigger, at a receiver whose answers `answer` sets. */
async function triggered(site: StateSite) {
  const { git, receiver } = site
  receiver.answer(200)
  let action: Action | null = null
  await violated(site, async (agent_id) => {
    const conditions = { agent_ids: [agent_id], config: { url: receiver.url } }
    action = (await makeAction(git.platform, conditions)).action
  })
  const { id } = action as unknown as Action
  return id
}

async function stopped({ callers, name }: StateSite, target: object) {
  const { status, body } = await callers.default<Stop>('POST', '/api/v1/stops', { ...target, reason: name('case') })
  if (status !== 201) throw new Error(`answered ${status}`)
  return body
}

export const operationSubjects: Readonly<Record<string, Make>> = {
  action: async ({ git, callers, receiver }) => {
    const { id } = (await makeAction(git.platform, { on: 'log.invalid', config: { url: receiver.url } })).action
    const state = async () => {
      const { status, body } = await callers.default<Action>('GET', `/api/v1/actions/${id}`)
      return status === 404 ? 'deleted' : body.enabled ? 'enabled' : 'disabled'
    }
    return { values: { id }, callers, state }
  },
  delivery: async (site) => {
    const { git, callers, receiver } = site
    const action_id = await triggered(site)
    const [delivered] = await inStates(git.platform, action_id, ['delivered'])
    const id = delivered?.id ?? ''
    // Another attempt leaves the delivery as it is.
    receiver.answer(503)
    const state = async () => (await callers.default<Delivery>('GET', `/api/v1/actions/deliveries/${id}`)).body.state
    const give_up = async () => {
      receiver.answer(410)
      await callers.default('POST', `/api/v1/actions/deliveries/${id}/redeliver`)
      await inStates(git.platform, action_id, ['dead'])
      receiver.answer(503)
      // The answer has disabled it.
      await callers.default('POST', `/api/v1/actions/${action_id}/enable`)
    }
    return { values: { id, action_id }, callers, state, steps: { give_up } }
  },
  incident: async (site) => {
    const path = `/api/v1/incidents?task_id=${(await violated(site)).task_id}`
    const read = async () => (await site.callers.default<IncidentList>('GET', path)).body.incidents[0]
    const id = (await read())?.id ?? ''
    return { values: { id }, callers: site.callers, state: async () => (await read())?.state ?? null }
  },
  policy: async (site) => {
    const { id } = (await site.callers.default<Policy>('POST', '/api/v1/policies', amounts)).body
    return { values: { id }, callers: site.callers, state: stateOfPolicy(site, id) }
  },
  'policy-of-manifest': async (site) => {
    const { callers } = site
    const { id: agent_id } = await registered(site)
    const { policies } = (await callers.default<PolicyList>('GET', `/api/v1/policies?agent_id=${agent_id}`)).body
    const id = policies.find(({ manifest_id }) => manifest_id !== null)?.id ?? 0
    let isReplaced = false
    const read = stateOfPolicy(site, id)
    const remove_assignment = async () => {
      const path = `/api/v1/assignments?agent_id=${agent_id}`
      const { assignments } = (await callers.default<{ assignments: { id: number }[] }>('GET', path)).body
      for (const one of assignments) await callers.default('DELETE', `/api/v1/assignments/${one.id}`)
      isReplaced = true
    }
    return {
      values: { id },
      callers,
      state: async () => (isReplaced ? 'replaced' : read()),
      steps: { remove_assignment },
    }
  },
  'policy-of-stop': async (site) => {
    const { callers } = site
    const { id: stop_id, policy_id: id } = await stopped(site, { agent_id: (await registered(site)).id })
    const resume = () => callers.default('POST', `/api/v1/stops/${stop_id}/resume`, {})
    const state = async () => (await callers.default<Stop>('GET', `/api/v1/stops/${stop_id}`)).body.state
    return { values: { id }, callers, state, steps: { resume } }
  },
  stop: async (site) => {
    const { manifest_id, agent_ids } = await site.governed()
    const { id } = await stopped(site, { manifest_id })
    const read = async () => {
      const { state, agents } = (await site.callers.default<Stop>('GET', `/api/v1/stops/${id}`)).body
      return state === 'resuming' && agents === 0 ? 'staged' : state
    }
    return { values: { id, agent: agent_ids[0] ?? '' }, callers: site.callers, state: read }
  },
}
