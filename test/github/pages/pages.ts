// Pages for people, as GitHub's addresses name them, and the buttons on them.
import { rerequestRun } from '../check-routes.js'
import { merge, review } from '../pulls.js'
import { fullName, type Repository, type World } from '../world.js'
import { html, type Page, page, redirect } from './html.js'
import { pullPage } from './pull-page.js'
import { filePage, homePage, repositoryPage } from './repository-page.js'
import { runPage, runsOf } from './run-page.js'

type Found = Page | null | undefined

export function pageOf(world: World, method: string, path: string): Page {
  const parts = path.split('/').slice(1).map(decoded)
  const answer = method === 'POST' ? act(world, parts) : shown(world, parts)
  const missing = html`<h1>404</h1><p>This GitHub has no page at <code>${path}</code>. <a href="/">Its repositories</a></p>`
  return answer ?? page('Not found', missing, 404)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function repositoryAt({ repositories }: World, owner = '', name = ''): Repository | undefined {
  const wanted = `${owner}/${name}`.toLowerCase()
  return [...repositories].find((one) => !one.deleted && fullName(one).toLowerCase() === wanted)
}

function shown(world: World, [owner, name, kind, key = '', ...rest]: readonly string[]): Found {
  if (owner === '' && name === undefined) return homePage(world)
  const repository = repositoryAt(world, owner, name)
  if (repository === undefined) return null
  if (kind === undefined || kind === '') return repositoryPage(world, repository)
  if (kind === 'blob') return filePage(repository, key, rest.join('/'))
  if (kind === 'commit') {
    const [run] = runsOf(world, repository, key)
    return run && runPage(world, run)
  }
  const run = kind === 'runs' ? findRun(world, repository, key) : undefined
  if (run !== undefined) return runPage(world, run)
  const pull = kind === 'pull' ? repository.pulls.find(({ number }) => String(number) === key) : undefined
  return pull && pullPage(world, pull)
}

function findRun({ runs }: World, repository: Repository, id: string) {
  return runs.find((run) => String(run.id) === id && run.suite.repository === repository)
}

/** A button: does it, and sends the visitor back to the page. */
function act(world: World, [owner, name, kind, key = '', action, login = '']: readonly string[]): Found {
  const repository = repositoryAt(world, owner, name)
  if (repository === undefined) return null
  const back = redirect(`/${fullName(repository)}/${kind}/${encodeURIComponent(key)}`)
  const run = kind === 'runs' && action === 'rerequest' ? findRun(world, repository, key) : undefined
  if (run !== undefined) {
    rerequestRun(world, run)
    return back
  }
  const pull = kind === 'pull' ? repository.pulls.find(({ number }) => String(number) === key) : undefined
  const by = world.accounts.get(login.toLowerCase())
  if (pull?.state !== 'open') return null
  if (action === 'merge') merge(world, pull)
  else if (action === 'approve' && by?.type === 'User' && by !== pull.user)
    review(world, pull, { by, state: 'approved' })
  else return null
  return back
}
