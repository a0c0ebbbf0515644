// A workspace full of history: the states that pages show are there.
import type { IncidentList } from '@svc/schemas'
import { runPlatform } from '../support/server/process.js'
import type { Company } from './company.js'
import { exampleRun, writeHistory } from './history.js'
import { actLive } from './live.js'
import { governAgents } from './story.js'

export interface Filled {
  /** Agent key to id. */
  readonly agents: ReadonlyMap<string, string>
  readonly tasks: number
  readonly steps: number
  /** Of the agent that runs behind a local engine; the others have none. */
  readonly engine_url: string
  /** Signs the owner in, and opens the worst task. Valid once, for 15 minutes. */
  readonly link: string
}

/** `now`: ms since 1970; the last recorded tasks end shortly before. */
export async function fillWorkspace(company: Company, now: number): Promise<Filled> {
  const [{ agents }, history] = await Promise.all([
    governAgents(company),
    writeHistory(company.data_dir, company.has_airline, now),
  ])
  const { runs, steps } = await company.importRuns('trace', history)
  const [engine, link] = await Promise.all([
    company.startEngine('support-desk'),
    signInLink(company, `/tasks/${worstTask}`),
  ])
  for (const { run, task_id, ends } of liveTasks) await actLive(engine, exampleRun(run), task_id, ends)
  await moveIncidents(company)
  return { agents, tasks: runs + liveTasks.length, steps, engine_url: engine.url, link }
}

/** The same acts as in the history, where no engine was asked: here it stops two of them. */
const liveTasks = [
  { run: 'support-01-lost-parcel', task_id: 'support-today-1', ends: true },
  { run: 'support-08-card-number', task_id: 'support-today-2', ends: true },
  // Waits for a person.
  { run: 'support-07-no-approval', task_id: 'support-today-3', ends: false },
]

/** The agent reads the page of a stranger, and sends customers to the address that the page names. */
export const worstTask = 'research-2601-0202'

/** Incidents that a person has moved; the others are open. */
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
    note: 'The tests of the shop may run without a gate.',
  },
] as const

async function moveIncidents({ call }: Company): Promise<void> {
  for (const { task_id, policy, move, note } of moves) {
    const { incidents } = await call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)
    const incident = incidents.find(({ policy_name }) => policy_name === policy)
    if (incident === undefined) throw new Error(`the task ${task_id} has no incident of \`${policy}\``)
    await call('POST', `/api/v1/incidents/${incident.id}/${move}`, { note })
  }
}

/** Opens the path after the sign-in. */
async function signInLink({ data_dir }: Company, return_to: string): Promise<string> {
  const env = { SVC_DATA_DIR: data_dir }
  const { code, stdout, stderr } = await runPlatform(['admin', 'sign-in-link', 'owner@localhost'], env)
  if (code !== 0) throw new Error(`no sign-in link: ${stderr}`)
  return `${stdout.trim()}&return_to=${encodeURIComponent(return_to)}`
}
