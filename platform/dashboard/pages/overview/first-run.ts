// An empty workspace: the commands that bring the first step in, with a key; the page waits and becomes the page of that task.
import { paths } from '../../paths.js'
import { piece } from '../../views/html.js'
import type { Act, Shown, Visit } from '../../visit.js'

const place = 'overview'
const title = 'Bring the first step in'

/** What an empty workspace shows. */
export function firstRun({ api: { may }, csrf }: Visit): Shown {
  return {
    title,
    place,
    content: start({
      csrf,
      may_create: may('post', '/auth/api-keys'),
      api_keys: paths.settings({ tab: 'keys' }),
    }).toHTML(),
  }
}

const start = piece(`<div class="card"><div class="card-body">
<p>No agent has recorded a step in this workspace yet. Three commands in a terminal register an agent and record a task of two steps.
This page becomes the page of that task when it arrives.</p>
{{#if may_create}}<form method="post" action="/"><input type="hidden" name="csrf" value="{{csrf}}">
<button class="btn btn-primary" name="act" value="key">Create an API key and show the commands</button></form>
{{else}}<p>The commands need an API key: ask an owner or admin of the workspace for one.</p>{{/if}}</div></div>
<div hx-get="/?waiting=1" hx-trigger="every 2s" hx-swap="none"></div>
`)

/** Creates an API key, and shows it once, in the commands. */
export const showCommands: Act = async ({ api: { change }, url }) => {
  const { key } = await change('made-api-key', 'post', '/auth/api-keys', {
    name: 'first steps',
    scopes: ['ingest', 'read'],
  })
  const post = (path: string, body: object) =>
    `curl -s ${url}${path} -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const task = { agent_key: 'my-agent', task_id: 'first-task' }
  const commands = [
    ['Register an agent', post('/api/v1/agents', { agent_key: 'my-agent', owner_id: 'me', purpose: 'a first try' })],
    [
      'Record the first step of a task',
      post('/api/v1/logs', { ...task, step: 1, step_type: 'task.start', timestamp: '2026-01-05T09:00:00Z' }),
    ],
    [
      'Record its end',
      post('/api/v1/logs', { ...task, step: 2, step_type: 'task.end', timestamp: '2026-01-05T09:00:01Z' }),
    ],
  ]
  const content = waiting({ key, commands: commands.map(([what, command]) => ({ what, command })) })
  return { title, place, content: content.toHTML() }
}

const waiting =
  piece(`<div class="alert alert-warning" role="status">The API key is shown only now: <code>{{key}}</code>
<button type="button" class="copy" data-copy="{{key}}" aria-label="Copy the key" hidden></button></div>
<ol class="list-unstyled">{{#each commands}}<li class="card"><div class="card-body"><h2 class="h3">{{what}}</h2>
<div class="d-flex gap-2"><pre class="json flex-fill mb-0" tabindex="0"><code>{{command}}</code></pre>
<button type="button" class="copy" data-copy="{{command}}" aria-label="Copy the command" hidden></button></div></div></li>
{{/each}}</ol>
<p role="status">This page becomes the page of the task when its first step arrives. <a class="text-link" href="/?waiting=1">Look now</a></p>
<div hx-get="/?waiting=1" hx-trigger="every 2s" hx-swap="none"></div>
`)

/** The address of the latest task, or of this page while it is not known. */
export async function latestTask({ api: { read }, path }: Visit): Promise<string> {
  const { tasks } = await read('task-list', '/api/v1/logs/tasks', { limit: '1' })
  return tasks[0] === undefined ? path : paths.task(tasks[0].task_id)
}
