// What GitHub does in the middle of a check: in each case the check run is completed, with the result or with a sentence, and
// no job is left. All cases run at once on one platform, each on an account of its own, beside a pull request without a fault.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secondaryLimit, serverError } from '../github/fake-github.js'
import { closePull } from '../github/pulls.js'
import type { AnswerFault, Pull, SeenRequest } from '../github/world.js'
import {
  type AppProcess,
  type Connected,
  eventually,
  openAppProcess,
  payments,
  runsOf,
} from '../support/server/app-process.js'

interface Setting extends Connected {
  readonly app: AppProcess
  readonly pull: Pull
  /** Of the pull request when it was opened. */
  readonly head_sha: string
}

interface Case {
  readonly name: string
  /** Method and path of the request that the fault meets. */
  readonly on: RegExp
  /** How many of these requests; 1 by default. */
  readonly times?: number
  readonly fault: (setting: Setting, request: SeenRequest) => AnswerFault | null
  /** Afterwards: lets GitHub be as before. */
  readonly heal?: (setting: Setting) => void
  /** The last title of the check run of the first head. */
  readonly title: RegExp
  readonly head?: string
}

const checked = /^No agent has this manifest: 1 policy becomes stricter$/
const answer = (status: number, message: string): AnswerFault => ({ kind: 'answer', status, body: { message } })
const [pull, tree, blob, begin, end] = [
  /GET .*\/pulls\/1$/,
  /GET .*\/git\/trees\//,
  /GET .*\/git\/blobs\//,
  /POST .*\/check-runs$/,
  /PATCH .*\/check-runs\/\d+$/,
]
const later = (run: () => void) => {
  run()
  return null
}
const revoke = ({ app, installation }: Setting) =>
  later(() => {
    for (const token of app.github.world.tokens.values()) if (token.installation === installation) token.revoked = true
  })

const cases: readonly Case[] = [
  // First, because a request is waited for 30 s.
  { name: 'hang-tree', on: tree, fault: () => ({ kind: 'hang' }), title: checked },
  ...[
    { at: 'pull', on: pull },
    { at: 'tree', on: tree },
    { at: 'blob', on: blob },
    { at: 'begin', on: begin },
    { at: 'end', on: end },
  ].flatMap(({ at, on }): Case[] => [
    { name: `error-${at}`, on, fault: () => serverError(), title: checked },
    { name: `cut-${at}`, on, fault: () => ({ kind: 'cut' }), title: checked },
    { name: `limit-${at}`, on, fault: () => secondaryLimit(1), title: checked },
    { name: `revoked-${at}`, on, fault: revoke, title: checked },
  ]),
  { name: 'errors-tree', on: tree, times: 3, fault: () => serverError(503), title: checked },
  {
    name: 'primary-limit',
    on: blob,
    fault: () => ({
      kind: 'answer',
      status: 403,
      body: { message: 'API rate limit exceeded' },
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3) },
    }),
    title: checked,
  },
  {
    name: 'limit-of-tokens',
    on: /POST .*\/access_tokens$/,
    fault: () => secondaryLimit(2, 429),
    title: checked,
  },
  {
    name: 'suspended',
    on: tree,
    fault: ({ app, installation }) => later(() => app.github.suspend(installation)),
    heal: ({ app, installation }) => app.github.unsuspend(installation),
    title: checked,
  },
  {
    name: 'removed',
    on: tree,
    fault: ({ app, installation, repository }) =>
      later(() => app.github.removeRepositories(installation, [repository])),
    heal: ({ app, installation, repository }) => app.github.addRepositories(installation, [repository]),
    title: checked,
  },
  {
    name: 'renamed',
    on: tree,
    fault: ({ app, repository }) => later(() => app.github.rename(repository, 'rules')),
    title: checked,
  },
  {
    name: 'renamed-end',
    on: end,
    fault: ({ app, repository }) => later(() => app.github.rename(repository, 'rules')),
    title: checked,
  },
  {
    name: 'transferred',
    on: tree,
    fault: ({ app, repository }) => later(() => app.github.transfer(repository, app.owner)),
    title: checked,
  },
  {
    name: 'truncated-tree',
    on: /recursive=1/,
    times: 100,
    fault: () => ({ kind: 'answer', status: 200, body: { tree: [], truncated: true } }),
    title: checked,
  },
  {
    name: 'pushed',
    on: tree,
    fault: ({ app, pull, repository }) =>
      later(() => app.github.push(repository, { branch: pull.head_branch, files: { 'a.yaml': payments(100) } })),
    title: /^(No agent has this manifest|Not checked: no open pull request)/,
  },
  { name: 'closed', on: tree, fault: ({ app, pull }) => later(() => closePull(app.github.world, pull)), title: /./ },
  {
    name: 'no-base',
    on: pull,
    fault: ({ repository }) =>
      later(() => {
        repository.bare.git('update-ref', '-d', 'refs/heads/main')
        repository.heads = repository.bare.branches()
      }),
    title: /^Not checked: the branch of the base does not exist any more$/,
  },
  {
    name: 'annotations',
    on: end,
    times: 100,
    head: payments(200, 'nothing'),
    fault: (_, { body }) =>
      (body as { output?: { annotations?: unknown[] } }).output?.annotations?.length
        ? answer(422, 'Invalid request')
        : null,
    title: /^Invalid: 1 error in a.yaml$/,
  },
  {
    name: 'result',
    on: end,
    times: 100,
    fault: (_, { body }) => (JSON.stringify(body).includes('becomes stricter') ? answer(422, 'Invalid request') : null),
    title: /^Not checked: GitHub rejects what the App asks for$/,
  },
]

const only = process.env.SVC_FAULT
const chosen = cases.filter(({ name }) => only === undefined || name === only)

describe('a check run', () => {
  let app: AppProcess
  const settings = new Map<string, Setting>()
  beforeAll(async () => {
    app = await openAppProcess(['calm', ...chosen.map(({ name }) => name)])
    app.github.install(app.app, app.owner)
    const connected = await Promise.all(
      chosen.map(async (one) => [one.name, await app.connect(one.name, { 'a.yaml': payments(500) })] as const),
    )
    const calm = await app.connect('calm', { 'a.yaml': payments(500) })
    const met = new Map<string, number>()
    app.github.faults.answer = (request) => {
      const one = caseOf(request)
      const setting = one && settings.get(one.name)
      if (one === undefined || setting === undefined || !one.on.test(`${request.method} ${request.path}`)) return null
      const count = met.get(one.name) ?? 0
      if (count >= (one.times ?? 1)) return null
      met.set(one.name, count + 1)
      return one.fault(setting, request)
    }
    const caseOf = ({ path, body }: SeenRequest) => {
      const [, login] = /^\/repos\/([^/]+)\//.exec(path) ?? []
      const [, id] = /^\/repositories\/(\d+)\//.exec(path) ?? []
      const ids = (body as { repository_ids?: number[] } | undefined)?.repository_ids ?? []
      return chosen.find(({ name }) => {
        const { repository } = settings.get(name) ?? {}
        return name === login || String(repository?.id) === id || ids.includes(repository?.id ?? -1)
      })
    }
    for (const [name, one] of connected) {
      const { head = payments(200) } = chosen.find((found) => found.name === name) ?? {}
      const opened = app.github.openPull(one.repository, { branch: 'change', files: { 'a.yaml': head } })
      settings.set(name, { ...one, app, pull: opened, head_sha: opened.head_sha })
    }
    const other = app.github.openPull(calm.repository, { branch: 'change', files: { 'a.yaml': payments(200) } })
    settings.set('calm', { ...calm, app, pull: other, head_sha: other.head_sha })
  })
  afterAll(() => app?.close())

  it('without a fault has its result', async () => {
    const { pull } = settings.get('calm') as Setting
    await eventually('the check is completed', () =>
      runsOf(app.github, pull.head_sha).some(({ status }) => status === 'completed'),
    )
    expect(runsOf(app.github, pull.head_sha).map(({ title }) => title)).toEqual([expect.stringMatching(checked)])
  })

  it.concurrent.each(chosen.map((one) => [one.name, one] as const))(
    'with `%s` is completed once',
    async (name, one) => {
      const setting = settings.get(name) as Setting
      const { head_sha } = setting
      const runs = () => runsOf(app.github, head_sha)
      const isMet = () => app.github.requests.some(({ method, path }) => one.on.test(`${method} ${path}`))
      if (one.heal !== undefined) {
        await eventually(`${name}: the fault was met`, isMet)
        await app.github.idle()
        await new Promise((resolve) => setTimeout(resolve, 5000))
        one.heal(setting)
      }
      await eventually(
        `${name}: the check is completed: ${JSON.stringify(runs().map(({ status, title }) => [status, title]))}`,
        () => runs().some(({ status, title }) => status === 'completed' && one.title.test(title ?? '')),
      )
      expect(runs().filter(({ status }) => status !== 'completed')).toEqual([])
      expect(runs().length).toBe(1)
    },
  )
})
