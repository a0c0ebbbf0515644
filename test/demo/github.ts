// `npm run demo:github`: the GitHub App from the installation to the merge, on this machine and without an account.
// `--once` ends after the last step, `--port N` serves the pages of GitHub on a fixed port.
import { printable } from '@svc/proof'
import type { CheckRun } from '../github/world.js'
import { print, runDemonstration } from './command.js'
import { type Company, openCompany } from './company.js'
import { taskRows } from './rows.js'
import { begin, completedCheck, merge, openLoosening, openTightening, pageOf } from './story.js'

/** Recorded tasks that are printed for each agent. */
const maxRows = 4

await runDemonstration({
  name: 'demo:github',
  open: (github_port) => {
    print('Starting a platform and a GitHub on this machine (about 10 seconds) …\n')
    return openCompany({ github_port })
  },
  tell,
})

async function tell(company: Company, isOnce: boolean): Promise<void> {
  const { github, platform, repository } = company
  const at = `${github.url}/${repository.owner.login}/${repository.name}`
  print(`a GitHub on this machine  ${github.url}`)
  print(`the platform              ${platform.url}/sign-in\n`)

  const { agents, runs, steps } = await begin(company)
  print(`1. The App is installed, and the platform has connected ${repository.owner.login}/${repository.name}.`)
  print(`   ${agents.size} agents have a manifest of it: ${[...agents.keys()].join(', ')}.`)
  print(`   ${runs} recorded runs with ${steps} steps are in the log of the platform.\n`)

  const tightening = openTightening(company)
  print(`2. A person tightens a rule in a pull request: ${at}/pull/${tightening.number}`)
  show(company, await completedCheck(company, 'svc / policies', tightening.head_sha))

  const merged = await merge(company, tightening, 'support-desk', 'policies/support.yaml')
  print(
    `3. It is merged. After ${(merged.ms / 1000).toFixed(1)} s the policies of support-desk carry the new version ${merged.manifest_sha.slice(0, 7)}.`,
  )
  show(company, await completedCheck(company, 'svc / in force', merged.commit_sha))

  const loosening = openLoosening(company)
  print(`4. The account of a coding agent takes protection away in a pull request: ${at}/pull/${loosening.number}`)
  show(company, await completedCheck(company, 'svc / policies', loosening.head_sha))

  if (!isOnce)
    print(
      'Open the addresses in a browser: a pull request has buttons to approve and to merge. Ctrl+C ends the demonstration and removes its data.',
    )
}

/** The result of a check run, the first recorded tasks in it, and its page. */
function show(company: Company, run: CheckRun): void {
  print(`   ${run.name}: ${run.conclusion}: ${run.title}`)
  const seen = new Map<string, number>()
  const rows = taskRows(run.summary ?? '')
  for (const { agent, task, step, outcome, why } of rows) {
    const count = (seen.get(agent) ?? 0) + 1
    seen.set(agent, count)
    if (count > maxRows) continue
    print(`   - ${printable(`${task} of ${agent}, step ${step}`)}`)
    print(`     ${printable(`${outcome}: ${why}`)}`)
  }
  if ([...seen.values()].some((count) => count > maxRows)) print('   - more are on the page:')
  print(`   ${pageOf(company, run)}\n`)
}
