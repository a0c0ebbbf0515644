// A workspace full of history: every state that the pages show is there.
import type { IncidentList } from '@svc/schemas'
import { type Serve, startServe } from '../support/engine/serve.js'
import { runPlatform } from '../support/server/process.js'
import { type Company, openCompany } from './company.js'
import { writeHistory } from './history.js'
import { governAgents } from './story.js'

export type Workspace = Awaited<ReturnType<typeof openWorkspace>>

export async function openWorkspace(options: Parameters<typeof openCompany>[0], now: number) {
  const company = await openCompany(options)
  const engines: Serve[] = []
  const close = async () => {
    for (const engine of engines) await engine.discard()
    await company.close()
  }
  try {
    const [{ agents }, history] = await Promise.all([
      governAgents(company),
      writeHistory(company.data_dir, company.has_airline, now),
    ])
    const { runs, steps } = await company.importRuns('trace', history)
    engines.push(await startEngine(company, 'support-desk'))
    await moveIncidents(company)
    const link = await signInLink(company, `/tasks/${worstTask}`)
    return { company, agents, runs, steps, link, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A local engine with the policies of the platform, which reports its state. The other agents have none. */
function startEngine({ platform }: Company, agent_key: string): Promise<Serve> {
  const env = { SVC_API_URL: platform.url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: agent_key }
  return startServe([], {}, env)
}

/** The agent reads the page of a stranger, and sends customers to the address that the page names. */
const worstTask = 'research-2601-0202'

/** Incidents that a person has moved, by task and policy; the others are open. */
const moves = [
  {
    task_id: 'support-2601-0203',
    policy: 'A person approves large refunds',
    move: 'review',
    note: 'Anna checks with the bookkeeping whether 740 euros were owed.',
  },
  {
    task_id: 'support-2601-0301',
    policy: 'Mails contain no card numbers',
    move: 'resolve',
    note: 'The card was blocked, and the customer is informed.',
  },
  {
    task_id: 'coding-2601-0101',
    policy: 'Code runs only after a gate',
    move: 'ignore',
    note: 'Tests of the shop may run without a gate.',
  },
] as const

async function moveIncidents({ call }: Company): Promise<void> {
  for (const { task_id, policy, move, note } of moves) {
    const { incidents } = await call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)
    const incident = incidents.find(({ policy_name }) => policy_name === policy)
    if (incident === undefined) throw new Error(`task ${task_id} has no incident of \`${policy}\``)
    await call('POST', `/api/v1/incidents/${incident.id}/${move}`, { note })
  }
}

/** The path is opened after the sign-in. */
async function signInLink({ data_dir }: Company, return_to: string): Promise<string> {
  const { code, stdout, stderr } = await runPlatform(['admin', 'sign-in-link', 'owner@localhost'], {
    SVC_DATA_DIR: data_dir,
  })
  if (code !== 0) throw new Error(`no sign-in link: ${stderr}`)
  return `${stdout.trim()}&return_to=${encodeURIComponent(return_to)}`
}
