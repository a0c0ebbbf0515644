// Routes of check runs and suites, and what GitHub does when an App writes one.
import { type Answer, ApiError, type Call, notFound, page, type Route, repositoryRoute } from './api.js'
import { annotationOf, checkRunBody } from './check-rules.js'
import { annotationShape, runShape, suiteShape } from './shapes.js'
import { fire } from './webhooks.js'
import { type App, type CheckRun, type CheckSuite, isoTime, type Json, type Repository, type World } from './world.js'

const read = { permission: 'checks', level: 'read' } as const
const write = { permission: 'checks', level: 'write' } as const

export const checkRoutes: readonly Route[] = [
  repositoryRoute('POST', '/check-runs', write, create),
  repositoryRoute('PATCH', '/check-runs/(\\d+)', write, update),
  repositoryRoute('GET', '/check-runs/(\\d+)', read, ({ world }, repository, id) => ({
    status: 200,
    body: runShape(world, find(world, repository, id)),
  })),
  repositoryRoute('GET', '/check-runs/(\\d+)/annotations', read, (call, repository, id) => {
    const run = find(call.world, repository, id)
    return page(call, run.annotations, (rows) => rows.map((row) => annotationShape(call.world, run, row)))
  }),
  repositoryRoute('GET', '/commits/(.+)/check-runs', read, (call, repository, reference = '') => {
    const sha = repository.heads.get(reference.replace(/^heads\//, '')) ?? reference
    if (repository.bare.object(sha)?.type !== 'commit') throw noCommit(sha)
    return list(call, (run) => run.suite.repository === repository && run.suite.head_sha === sha)
  }),
  repositoryRoute('GET', '/check-suites/(\\d+)/check-runs', read, (call, repository, id) =>
    list(call, (run) => run.suite.repository === repository && String(run.suite.id) === id),
  ),
  repositoryRoute('POST', '/check-runs/(\\d+)/rerequest', write, ({ world, caller }, repository, id) => {
    rerequestRun(world, ownRun(world, repository, id, appOf(caller)))
    return { status: 201, body: {} }
  }),
]

const noCommit = (sha: string) => new ApiError(422, `No commit found for SHA: ${sha}`)

function find(world: World, repository: Repository, id: string | undefined): CheckRun {
  const found = world.runs.find((run) => String(run.id) === id && run.suite.repository === repository)
  if (found === undefined) throw notFound()
  return found
}

function appOf(caller: Call['caller']): App {
  if (caller.kind !== 'installation') throw new ApiError(403, 'You must authenticate via a GitHub App.')
  return caller.token.installation.app
}

function ownRun(world: World, repository: Repository, id: string | undefined, app: App): CheckRun {
  const run = find(world, repository, id)
  if (run.suite.app === app) return run
  const text = `Invalid app_id \`${app.id}\` - check run can only be modified by the GitHub App that created it.`
  throw new ApiError(403, text)
}

function list(call: Call, isWanted: (run: CheckRun) => boolean): Answer {
  const { world, query } = call
  const name = query.get('check_name')
  const app = query.get('app_id')
  const status = query.get('status')
  const matching = world.runs
    .filter(isWanted)
    .filter((run) => name === null || run.name === name)
    .filter((run) => app === null || String(run.suite.app.id) === app)
    .filter((run) => status === null || run.status === status)
    .reverse()
  const isLatest = (run: CheckRun, index: number) =>
    matching.findIndex((other) => other.suite === run.suite && other.name === run.name) === index
  const rows = query.get('filter') === 'all' ? matching : matching.filter(isLatest)
  return page(call, rows, (shown) => ({
    total_count: rows.length,
    check_runs: shown.map((run) => runShape(world, run)),
  }))
}

function create({ world, caller, body }: Call, repository: Repository): Answer {
  const app = appOf(caller)
  checkRunBody(body, true)
  const sha = String(body.head_sha)
  if (repository.bare.object(sha)?.type !== 'commit') throw noCommit(sha)
  const suite = suiteOf(world, app, repository, sha)
  const run: CheckRun = {
    id: world.nextId(),
    suite,
    name: String(body.name),
    external_id: '',
    details_url: `${world.url}/apps/${app.slug}`,
    status: 'queued',
    conclusion: null,
    started_at: isoTime(world.now()),
    completed_at: null,
    title: null,
    summary: null,
    text: null,
    actions: [],
    annotations: [],
  }
  fill(world, run, body)
  world.runs.push(run)
  dropOldest(world, run)
  tell(world, run, 'created')
  if (run.status === 'completed') tell(world, run, 'completed')
  return { status: 201, body: runShape(world, run) }
}

function update({ world, caller, body }: Call, repository: Repository, id?: string): Answer {
  const run = ownRun(world, repository, id, appOf(caller))
  checkRunBody(body, false)
  const wasCompleted = run.status === 'completed'
  fill(world, run, body)
  if (run.status === 'completed' && !wasCompleted) tell(world, run, 'completed')
  return { status: 200, body: runShape(world, run) }
}

/** Members that are given replace; annotations are appended; a conclusion completes the run. */
function fill(world: World, run: CheckRun, body: Json): void {
  for (const member of ['name', 'external_id', 'details_url', 'status', 'started_at', 'actions'] as const) {
    if (body[member] !== undefined) Object.assign(run, { [member]: body[member] })
  }
  if (body.conclusion !== undefined) {
    const completed_at = String(body.completed_at ?? isoTime(world.now()))
    Object.assign(run, { status: 'completed', conclusion: body.conclusion, completed_at })
  } else if (body.status !== undefined) Object.assign(run, { conclusion: null, completed_at: null })
  const {
    title,
    summary,
    text,
    annotations = [],
  } = Object(body.output ?? {}) as {
    title?: string
    summary?: string
    text?: string
    annotations?: Json[]
  }
  if (title !== undefined) run.title = title
  if (summary !== undefined) run.summary = summary
  if (text !== undefined) run.text = text
  run.annotations.push(...annotations.map(annotationOf))
}

/** Above 1,000 runs of one name in a suite, GitHub deletes the oldest. */
function dropOldest(world: World, run: CheckRun): void {
  const same = world.runs.filter((other) => other.suite === run.suite && other.name === run.name)
  if (same.length > 1000) world.runs.splice(world.runs.indexOf(same[0] ?? run), 1)
}

/** The suite of an App for a commit; GitHub makes it with the first push or the first run. */
export function suiteOf(world: World, app: App, repository: Repository, head_sha: string): CheckSuite {
  const found = world.suites.find(
    (suite) => suite.app === app && suite.repository === repository && suite.head_sha === head_sha,
  )
  if (found !== undefined) return found
  const head_branch = [...repository.heads].find(([, sha]) => sha === head_sha)?.[0] ?? null
  const suite = { id: world.nextId(), app, repository, head_sha, head_branch, created_at: isoTime(world.now()) }
  world.suites.push(suite)
  return suite
}

function tell(world: World, run: CheckRun, action: string): void {
  const { repository, app } = run.suite
  const payload = { action, check_run: runShape(world, run, true) }
  fire(world, { event: 'check_run', repository, sender: app.bot, payload })
}

/** What the button "Re-run" sends to the App of the check run. The run itself changes only when the App writes it. */
export function rerequestRun(world: World, run: CheckRun, sender = run.suite.repository.owner): void {
  const { repository, app } = run.suite
  const payload = { action: 'rerequested', check_run: runShape(world, run, true) }
  fire(world, { event: 'check_run', repository, sender, payload, only: app })
}

/** What the button "Re-run all checks" sends. */
export function rerequestSuite(world: World, suite: CheckSuite, sender = suite.repository.owner): void {
  const { repository, app } = suite
  const payload = { action: 'rerequested', check_suite: suiteShape(world, suite) }
  fire(world, { event: 'check_suite', repository, sender, payload, only: app })
}
