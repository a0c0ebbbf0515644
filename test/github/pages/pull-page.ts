// A pull request: its checks, what people may do, and what it changes.
import { filesOf, isMergeable } from '../pull-routes.js'
import { type Account, fullName, type Pull, type World } from '../world.js'
import { type Html, html, markdown, type Page, page } from './html.js'
import { runLine, runsOf } from './run-page.js'

export function pullPage(world: World, pull: Pull): Page {
  const { repository, number, title, user, state, merged_at, head_sha, head_branch, base_branch, reviews } = pull
  const name = fullName(repository)
  const checks = runsOf(world, repository, head_sha)
  const word = merged_at === null ? state : 'merged'
  const body = html`<h1><b>${title}</b> <span class="dim">#${number}</span></h1>
<p><span class="state ${state}">${word}</span> <b>${user.login}</b> <span class="dim">wants to merge <code>${head_branch}</code> into <code>${base_branch}</code> of <a href="/${name}">${name}</a></span></p>
${pull.body === null ? [] : markdown(pull.body)}
<div class="box">${checks.map((run) => html`<div>${runLine(run)}</div>`)}${
    checks.length === 0 ? html`<div class="dim">No check has begun: load the page again.</div>` : []
  }${reviews.map((review) => html`<div>${review.user.login}: ${review.state.replaceAll('_', ' ')} <span class="dim">at ${review.commit_id.slice(0, 12)}</span></div>`)}
${state === 'open' ? html`<div>${actions(world, pull)}</div>` : []}</div>
<h2 class="bar">Files changed</h2>${filesOf(pull).map(({ path, patch }) => html`<div class="box"><div><b>${path}</b></div><div><pre>${patchLines(patch ?? '')}</pre></div></div>`)}`
  return page(title, body)
}

/** As whom a visitor may act: every person of this GitHub but the author. */
function actions({ accounts }: World, pull: Pull): Html {
  const at = `/${fullName(pull.repository)}/pull/${pull.number}`
  const people: Account[] = [...accounts.values()].filter((one) => one.type === 'User' && one !== pull.user)
  const approve = people.map(
    ({ login }) =>
      html`<form method="post" action="${at}/approve/${login}"><button class="plain">Approve as ${login}</button></form> `,
  )
  const merge = html`<form method="post" action="${at}/merge"><button>Merge pull request</button></form>`
  return html`${approve}${isMergeable(pull) ? merge : html`<span class="dim">This branch has conflicts.</span>`}`
}

function patchLines(patch: string): Html[] {
  const kinds: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus' }
  return patch.split('\n').map((line) => html`<span class="${kinds[line[0] ?? ''] ?? ''}">${line}</span>`)
}
