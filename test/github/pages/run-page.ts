// A check run as GitHub shows it: title, summary, text, and the annotations below.
import { type Annotation, type CheckRun, fullName, type Repository, type World } from '../world.js'
import { type Html, html, markdown, type Page, page } from './html.js'

const marks: Readonly<Record<string, string>> = { success: '✓', failure: '✗', action_required: '!', neutral: '■' }

export function runsOf({ runs }: World, repository: Repository, head_sha: string): CheckRun[] {
  return runs.filter(({ suite }) => suite.repository === repository && suite.head_sha === head_sha)
}

function addressOf({ suite, id }: CheckRun): string {
  return `/${fullName(suite.repository)}/runs/${id}`
}

function markOf({ conclusion }: CheckRun): Html {
  return html`<span class="mark ${conclusion ?? ''}">${marks[conclusion ?? ''] ?? '●'}</span>`
}

/** A check run in a list. */
export function runLine(run: CheckRun): Html {
  return html`${markOf(run)} <b>${run.name}</b> <span class="dim">${run.title ?? run.status}</span> <a href="${addressOf(run)}">Details</a>`
}

export function runPage(world: World, run: CheckRun): Page {
  const { repository, head_sha, app } = run.suite
  const name = fullName(repository)
  const pulls = repository.pulls.filter((pull) => pull.head_sha === head_sha)
  const others = runsOf(world, repository, head_sha).map((one) =>
    one === run
      ? html`<b>${markOf(one)} ${one.name}</b>`
      : html`<a href="${addressOf(one)}">${markOf(one)} ${one.name}</a>`,
  )
  const body = html`<h1>${
    pulls.length === 0
      ? html`<a href="/${name}">${name}</a> <span class="dim">commit ${head_sha.slice(0, 12)}</span>`
      : pulls.map(
          ({ title, number }) =>
            html`<a href="/${name}/pull/${number}">${title}</a> <span class="dim">#${number}</span>`,
        )
  }</h1>
<div class="columns"><nav class="side"><p class="dim">${app.slug}</p>${others}
<form method="post" action="${addressOf(run)}/rerequest"><button class="plain">Re-run</button></form></nav><div>
<h2 class="bar">${markOf(run)} ${run.title ?? run.name}</h2>
<p class="dim">${run.name}: ${(run.conclusion ?? run.status).replaceAll('_', ' ')}</p>
${run.summary === null ? [] : markdown(run.summary)}${run.text === null ? [] : markdown(run.text)}
${run.annotations.length === 0 ? [] : html`<h2 class="bar">Annotations</h2>${run.annotations.map((one) => annotationBox(run, one))}`}
</div></div>`
  return page(`${run.title ?? run.name}`, body)
}

function annotationBox({ suite }: CheckRun, { path, start_line, title, message, annotation_level }: Annotation): Html {
  const at = `/${fullName(suite.repository)}/blob/${suite.head_sha}/${path.split('/').map(encodeURIComponent).join('/')}`
  return html`<div class="box note ${annotation_level}"><div><a href="${at}#L${start_line}">${path}:${start_line}</a> <span class="dim">${annotation_level}</span><br><b>${title ?? ''}</b><br>${message}</div></div>`
}
