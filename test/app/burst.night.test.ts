// Many pull requests at once, many pushes to one head, large repositories; and what checks leave behind.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AppProcess,
  type Connected,
  eventually,
  openAppProcess,
  payments,
  runsOf,
} from '../support/server/app-process.js'

/** More of both take longer, and show what grows: SVC_CHECKS=200 SVC_FILES=90000. */
const checks = Number(process.env.SVC_CHECKS ?? 20)
const wide = Number(process.env.SVC_FILES ?? 9000)
const seconds = (start: number) => `${((performance.now() - start) / 1000).toFixed(1)} s`

describe('the App', () => {
  let app: AppProcess
  let policies: Connected
  beforeAll(async () => {
    app = await openAppProcess(['large', 'wide'])
    policies = await app.connect('acme', { 'a.yaml': payments(9000) })
  })
  afterAll(() => app?.close())

  const isDone = (head_sha: string) => runsOf(app.github, head_sha).some(({ status }) => status === 'completed')
  const settled = async () => {
    await app.github.idle()
    await eventually('no job is left', async () =>
      (await app.jobs()).every(({ name, waiting, active }) => !/check-|delivery/.test(name) || waiting + active === 0),
    )
  }
  const openMany = async (prefix: string, count: number) => {
    const opened = Array.from({ length: count }, (_, index) =>
      app.github.openPull(policies.repository, { branch: `${prefix}${index}`, files: { 'a.yaml': payments(index) } }),
    )
    await eventually('every head is checked', () => opened.every(({ head_sha }) => isDone(head_sha)))
    for (const { head_sha } of opened) expect(runsOf(app.github, head_sha).length).toBe(1)
  }

  it('checks 30 pull requests that are opened at once', async () => {
    const start = performance.now()
    await openMany('burst', 30)
    console.log(`30 pull requests at once: ${seconds(start)}`)
  })

  it('coalesces 50 pushes to one head', async () => {
    const start = performance.now()
    const pull = app.github.openPull(policies.repository, { branch: 'often', files: { 'a.yaml': payments(1) } })
    for (let index = 0; index < 50; index += 1)
      app.github.push(policies.repository, { branch: 'often', files: { 'a.yaml': payments(1000 + index) } })
    await eventually('the last head is checked', () => isDone(pull.head_sha))
    await settled()
    const runs = app.github.runs.filter(({ suite }) => suite.head_branch === 'often')
    console.log(`50 pushes: ${seconds(start)}, ${runs.length} check runs`)
    expect(app.github.runs.filter(({ status }) => status !== 'completed')).toEqual([])
    expect(runs.length).toBeLessThan(25)
  })

  it.each([
    { login: 'large', what: '2,000 manifests', count: 2000, ends: '.yaml' },
    { login: 'wide', what: `${wide} files`, count: wide, ends: '.txt' },
  ])('checks a repository with $what', async ({ login, what, count, ends }) => {
    const files = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `f/${index % 300}/${index}${ends}`,
        ends === '.txt' ? 'x' : payments(index),
      ]),
    )
    const { repository } = await app.connect(login, { ...files, 'a.yaml': payments(9000) })
    const start = performance.now()
    const pull = app.github.openPull(repository, { branch: 'change', files: { 'a.yaml': payments(1) } })
    await eventually(`the check of ${what}`, () => isDone(pull.head_sha))
    console.log(`a check beside ${what}: ${seconds(start)}`, runsOf(app.github, pull.head_sha)[0]?.title)
    expect(runsOf(app.github, pull.head_sha)[0]?.title).toMatch(/becomes? stricter/)
  })

  it('leaves nothing behind', async () => {
    await openMany('before', 10)
    await settled()
    const before = resources(app)
    const start = performance.now()
    for (let index = 0; index < checks; index += 10) await openMany(`after${index}-`, 10)
    await settled()
    const after = resources(app)
    console.log(`${checks} checks: ${seconds(start)}`, before, after)
    expect(after.threads).toBeLessThanOrEqual(before.threads + 1)
    expect(after.handles).toBeLessThanOrEqual(before.handles + 10)
    expect(after.copies).toBe(before.copies)
  })
})

/** Of the process: threads, open files and sockets, MiB of memory, and folders below its data. */
function resources({ platform: { pid }, env }: AppProcess) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const numberOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  const folders = readdirSync(env.SVC_DATA_DIR ?? '', { withFileTypes: true })
  return {
    threads: numberOf('Threads'),
    memory: Math.round(numberOf('VmRSS') / 1024),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    copies: folders.length,
  }
}
