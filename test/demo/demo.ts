// `npm run demo`: a platform with a workspace full of history, on this machine and without an account.
// `--once` ends after the start, `--port N` serves the platform on a fixed port.
import { print, runDemonstration } from './command.js'
import { type Company, openCompany } from './company.js'
import { fillWorkspace } from './filled.js'

await runDemonstration({
  name: 'demo',
  open: (port) => {
    print('Starting a platform on this machine and filling it with recorded tasks (about 20 seconds) …\n')
    return openCompany({ port })
  },
  tell,
})

async function tell(company: Company): Promise<void> {
  const { platform, github, repository } = company
  const { agents, tasks, steps, engine_url, link } = await fillWorkspace(company, Date.now())
  print(`sign in   ${link}
          (valid once, for 15 minutes; ${platform.url}/sign-in prints a new link here, for owner@localhost)
API key   ${platform.api_key}
engine    ${engine_url}  (of support-desk; the other agents have none)

${agents.size} agents with ${tasks} tasks and ${steps} steps. Look at:
- the task behind the link: an agent reads the page of a stranger and sends customers away
- support-desk: two tasks of today that its engine stopped; the same acts ran in older tasks, without an engine
- the policies of each agent: manifests at ${github.url}/${repository.owner.login}/${repository.name}, with the commit in force

Ctrl+C ends the demonstration and removes its data.`)
  relay(company)
}

/** Prints the output of the platform from now on, such as new sign-in links. */
function relay({ platform }: Company): void {
  let shown = platform.printed.length
  setInterval(() => {
    const text = platform.printed.slice(shown)
    shown += text.length
    process.stdout.write(text)
  }, 500)
}
