// Routes of an App and of its installations, and what an installation token may ask about itself.
import { type Answer, ApiError, type Call, findRepository, notFound, page, type Route } from './api.js'
import { issueToken } from './credentials.js'
import { appShape, installationShape, repositoryShape } from './shapes.js'
import {
  type App,
  covers,
  type Installation,
  isoTime,
  type Level,
  mayDo,
  type Permissions,
  type Repository,
  repositoriesOf,
  type World,
} from './world.js'

export const appRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/app$/,
    run: (call) => {
      const app = theApp(call)
      const installations_count = installationsOf(call.world, app).length
      return { status: 200, body: { ...appShape(call.world, app), installations_count } }
    },
  },
  {
    method: 'GET',
    path: /^\/app\/installations$/,
    run: (call) =>
      page(call, installationsOf(call.world, theApp(call)), (rows) =>
        rows.map((row) => installationShape(call.world, row)),
      ),
  },
  {
    method: 'GET',
    path: /^\/app\/installations\/(\d+)$/,
    run: (call, id) => ({ status: 200, body: installationShape(call.world, installationOf(call, id)) }),
  },
  { method: 'POST', path: /^\/app\/installations\/(\d+)\/access_tokens$/, run: createToken },
  {
    method: 'GET',
    path: /^\/(?:repos\/([^/]+\/[^/]+)|repositories\/(\d+))\/installation$/,
    run: installationOfRepository,
  },
  { method: 'GET', path: /^\/installation\/repositories$/, run: listRepositories },
  {
    method: 'DELETE',
    path: /^\/installation\/token$/,
    run: (call) => {
      theToken(call).revoked = true
      return { status: 204 }
    },
  },
]

/** The App that calls; 401 without its JSON web token. */
export function theApp({ caller }: Call): App {
  if (caller.kind !== 'app') throw new ApiError(401, 'A JSON web token could not be decoded')
  return caller.app
}

function theToken({ caller }: Call) {
  if (caller.kind !== 'installation') throw new ApiError(403, 'Resource not accessible by integration')
  return caller.token
}

function installationsOf(world: World, app: App): Installation[] {
  return world.installations.filter((one) => one.app === app && !one.deleted)
}

function installationOf(call: Call, id: string | undefined): Installation {
  const found = installationsOf(call.world, theApp(call)).find((one) => String(one.id) === id)
  if (found === undefined) throw notFound()
  return found
}

function installationOfRepository(call: Call, full?: string, id?: string): Answer {
  const app = theApp(call)
  const repository = findRepository(call, full, id)
  const found = installationsOf(call.world, app).find((one) => covers(one, repository))
  if (found === undefined) throw notFound()
  return { status: 200, body: installationShape(call.world, found) }
}

function createToken(call: Call, id?: string): Answer {
  const { world, body } = call
  const installation = installationOf(call, id)
  if (installation.suspended_at !== null) throw new ApiError(403, 'This installation has been suspended')
  const repositories = chosenRepositories(world, installation, body.repositories, body.repository_ids)
  const permissions = chosenPermissions(installation, body.permissions)
  const token = issueToken(world, installation, repositories, permissions)
  return {
    status: 201,
    body: {
      token: token.value,
      expires_at: isoTime(token.expires),
      permissions,
      repository_selection: repositories === null ? installation.repository_selection : 'selected',
      ...(repositories === null ? {} : { repositories: repositories.map((one) => repositoryShape(world, one)) }),
    },
  }
}

function chosenRepositories(
  world: World,
  installation: Installation,
  names: unknown,
  ids: unknown,
): readonly Repository[] | null {
  if (names === undefined && ids === undefined) return null
  const all = repositoriesOf(world, installation)
  const asList = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [])
  const wanted = [
    ...asList(names).map((name) => all.find((one) => one.name.toLowerCase() === String(name).toLowerCase())),
    ...asList(ids).map((id) => all.find((one) => one.id === id)),
  ]
  const found = wanted.filter((one) => one !== undefined)
  if (wanted.length > 500) throw new ApiError(422, 'Too many repositories: at most 500 can be given.')
  if (found.length < wanted.length || wanted.length === 0) {
    const text = 'There is at least one repository that does not exist or is not accessible to the parent installation.'
    throw new ApiError(422, text)
  }
  return found
}

/** Metadata can always be read. */
function chosenPermissions(installation: Installation, wanted: unknown): Permissions {
  if (wanted === undefined) return installation.permissions
  const entries = Object.entries(Object(wanted)) as [string, Level][]
  const exceeds = entries.some(
    ([name, level]) => !['read', 'write', 'admin'].includes(level) || !mayDo(installation.permissions, name, level),
  )
  if (exceeds) throw new ApiError(422, 'The permissions requested are not granted to this installation.')
  return { ...Object.fromEntries(entries), metadata: 'read' }
}

function listRepositories(call: Call): Answer {
  const { installation, repositories } = theToken(call)
  const all = repositoriesOf(call.world, installation)
  const seen = repositories === null ? all : all.filter((one) => repositories.includes(one))
  return page(call, seen, (rows) => ({
    total_count: seen.length,
    repository_selection: repositories === null ? installation.repository_selection : 'selected',
    repositories: rows.map((row) => repositoryShape(call.world, row)),
  }))
}
