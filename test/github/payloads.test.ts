// Payloads of the fake GitHub beside the published examples of GitHub's own.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { call, startReceiver, startWithApp, tokenOf } from './client.js'

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
  readonly name: string
  readonly examples: readonly unknown[]
}[]

/** Members that GitHub sends now, and that are younger than the examples. */
const younger = /\.(client_id|app_slug|suspended_by|suspended_at|visibility|requester)$|\.changes\.|\.permissions\./

/** Every member of a value, by its path; elements of a list share one. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((one) => pathsOf(one, path))]
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, one]) => pathsOf(one, `${path}.${name}`))]
}

async function payloadsOfAllEvents() {
  const receiver = await startReceiver()
  const { github, repository, installation, app, ann, acme } = await startWithApp(receiver.url)
  const pull = github.openPull(repository, { branch: 'change', files: { 'a.yaml': 'a' }, author: ann })
  github.push(repository, { branch: 'change', files: { 'a.yaml': 'b' }, author: ann })
  github.dismiss(pull, github.review(pull, { by: github.account('bob'), state: 'approved' }))
  github.enqueue(pull)
  github.closePull(pull)
  github.reopenPull(pull)
  const body = { name: 'svc / policies', head_sha: pull.head_sha, conclusion: 'success' }
  await call(github, await tokenOf(github, installation), 'POST', '/repos/acme/agents/check-runs', body)
  for (const run of github.runs) github.rerequestRun(run)
  for (const run of github.runs) github.rerequestSuite(run.suite)
  github.merge(pull)
  const other = github.repository(acme, 'other')
  github.addRepositories(installation, [other])
  github.removeRepositories(installation, [other])
  github.rename(repository, 'renamed')
  const next = github.account('next', 'Organization')
  github.install(app, next)
  github.transfer(repository, next)
  github.remove(repository)
  github.suspend(installation)
  github.unsuspend(installation)
  github.uninstall(installation)
  await github.idle()
  await github.close()
  receiver.close()
  return github.deliveries
}

describe('payloads', () => {
  it('have members that GitHub has', async () => {
    const deliveries = await payloadsOfAllEvents()
    const events = [...new Set(deliveries.map(({ event }) => event))]
    expect(events.length).toBe(9)
    const unknown = events.flatMap((event) => {
      const known = new Set(examples.find(({ name }) => name === event)?.examples.flatMap((one) => pathsOf(one)))
      const own = deliveries.filter((one) => one.event === event).flatMap(({ payload }) => pathsOf(payload))
      return [...new Set(own)].filter((path) => !known.has(path) && !younger.test(path)).map((path) => event + path)
    })
    expect(unknown).toEqual([])
  })
})
