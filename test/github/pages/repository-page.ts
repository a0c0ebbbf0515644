// The list of repositories, a repository with its pull requests, and a file with its lines.
import { fullName, type Repository, type World } from '../world.js'
import { html, type Page, page } from './html.js'
import { runLine, runsOf } from './run-page.js'

export function homePage(world: World): Page {
  const rows = [...world.repositories].filter(({ deleted }) => !deleted)
  const body = html`<h1>Repositories</h1><div class="box">${rows.map(
    (one) =>
      html`<div><a href="/${fullName(one)}"><b>${fullName(one)}</b></a> <span class="dim">${one.visibility}</span></div>`,
  )}</div>`
  return page('Repositories', body)
}

export function repositoryPage(world: World, repository: Repository): Page {
  const name = fullName(repository)
  const head = repository.heads.get(repository.default_branch)
  const files = head === undefined ? [] : repository.bare.tree(head, true).filter(({ type }) => type === 'blob')
  const pulls = repository.pulls.toReversed()
  const body = html`<h1><a href="/${name}">${name}</a></h1>
<h2 class="bar">Pull requests</h2>
<div class="box">${pulls.map(
    ({ number, title, user, state }) =>
      html`<div><a href="/${name}/pull/${number}"><b>${title}</b></a> <span class="dim">#${number} by ${user.login}, ${state}</span></div>`,
  )}${pulls.length === 0 ? html`<div class="dim">none yet</div>` : []}</div>
<h2 class="bar">Branch ${repository.default_branch}</h2>
<div class="box">${files.map(({ path }) => html`<div><a href="/${name}/blob/${head ?? ''}/${path}">${path}</a></div>`)}</div>
<h2 class="bar">Checks of its last commit</h2>
<div class="box">${runsOf(world, repository, head ?? '').map((run) => html`<div>${runLine(run)}</div>`)}</div>`
  return page(name, body)
}

/** Null for a file that the commit has not. */
export function filePage(repository: Repository, sha: string, path: string): Page | null {
  const entry = repository.bare.object(sha) && repository.bare.tree(sha, true).find((one) => one.path === path)
  const blob = entry ? repository.bare.object(entry.sha) : null
  if (blob === null) return null
  const lines = blob.bytes.toString('utf8').replace(/\n$/, '').split('\n')
  const name = fullName(repository)
  const body = html`<h1><a href="/${name}">${name}</a></h1><p><b>${path}</b> <span class="dim">at ${sha.slice(0, 12)}</span></p>
<div class="box"><div><pre>${lines.map((line, index) => html`<span id="L${index + 1}"><a href="#L${index + 1}">${index + 1}</a>${line}</span>`)}</pre></div></div>`
  return page(path, body)
}
