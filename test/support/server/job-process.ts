// A process that only runs jobs, which can be killed. Its one job prints the `id` that it is sent.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = import.meta.url.includes('/test/dist/') ? '../../../../' : '../../../'
const built = (path: string) => fileURLToPath(new URL(`${root}platform/dist/${path}`, import.meta.url))

const program = `
  const [, name, hangs] = process.argv
  const { readConfig } = await import(${JSON.stringify(built('config.js'))})
  const { openDatabase } = await import(${JSON.stringify(built('db/db.js'))})
  const { openQueue } = await import(${JSON.stringify(built('jobs/jobs.js'))})
  const db = await openDatabase(readConfig(process.env).value)
  const run = async ({ id }) => {
    console.log('ran ' + id)
    if (hangs === 'hangs') await new Promise(() => undefined)
  }
  const logger = { warn: console.error, error: console.error }
  const jobs = openQueue({ db, clock: Date.now, logger })
  jobs.add([{ name, timeout_seconds: 60, concurrency: 4, run }])
  await jobs.start()
  process.stdin.on('data', async (ids) => {
    for (const id of String(ids).trim().split(' ')) await jobs.send(name, { id })
  })
  console.log('ready')
`

export interface JobProcess {
  /** The ids of the jobs that ran here, in order. */
  readonly ran: () => readonly string[]
  readonly send: (ids: readonly string[]) => void
  readonly kill9: () => Promise<void>
}

/** Starts it and waits until it is ready. With `hangs`, no run ends. Rejects with what it prints on standard error. */
export function startJobProcess(
  env: Readonly<Record<string, string>>,
  name: string,
  hangs: boolean,
): Promise<JobProcess> {
  return start(program, [name, hangs ? 'hangs' : 'ends'], env)
}

const reportProgram = `
  const [, org_id] = process.argv
  const { readConfig } = await import(${JSON.stringify(built('config.js'))})
  const { openDatabase } = await import(${JSON.stringify(built('db/db.js'))})
  const { openQueue } = await import(${JSON.stringify(built('jobs/jobs.js'))})
  const { makeReportJob } = await import(${JSON.stringify(built('reports/make-job.js'))})
  const db = await openDatabase(readConfig(process.env).value)
  const logger = { warn: console.error, error: console.error }
  const make = async (_scope, plan, { progress }) => {
    progress(0.5)
    console.log('ran ' + plan.id)
    await new Promise(() => undefined)
  }
  const job = makeReportJob({ db, clock: Date.now, logger, make, isMaker: true })
  const jobs = openQueue({ db, clock: Date.now, logger })
  jobs.add([job])
  await jobs.start()
  process.stdin.on('data', async (ids) => {
    for (const report_id of String(ids).trim().split(' ')) await jobs.send(job.name, { org_id, report_id })
  })
  console.log('ready')
`

/** Starts a process that never finishes a report of the workspace; the ids that it is sent are those of reports. */
export function startReportProcess(env: Readonly<Record<string, string>>, org_id: string): Promise<JobProcess> {
  return start(reportProgram, [org_id], env)
}

function start(text: string, given: readonly string[], env: Readonly<Record<string, string>>): Promise<JobProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, ...given], {
    env: { PATH: process.env.PATH, ...env },
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let printed = ''
  const made: JobProcess = {
    ran: () => [...printed.matchAll(/^ran (.*)$/gm)].map(([, id = '']) => id),
    send: (ids) => child.stdin.write(`${ids.join(' ')}\n`),
    kill9: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.startsWith('ready')) resolve(made)
    })
    child.stderr.on('data', (chunk: Buffer) => reject(new Error(chunk.toString())))
  })
}
