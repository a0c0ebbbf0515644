// `npm run demo:github`: the GitHub App from the installation to the merge, on this machine and without an account.
// `--once` ends after the last step, `--port N` serves the pages of GitHub on a fixed port.
import { parseArgs } from 'node:util'
import type { CheckRun } from '../github/world.js'
import { type Company, openCompany } from './company.js'
import { begin, completedCheck, merge, openLoosening, openTightening, pageOf } from './story.js'

const { values } = parseArgs({
  options: { once: { type: 'boolean', default: false }, port: { type: 'string', default: '0' } },
})

const company = await openCompany({ github_port: Number(values.port) })
const stopRequested = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
})
try {
  await Promise.race([tell(company), stopRequested])
  if (!values.once) await stopRequested
} finally {
  await company.close()
}

async function tell(company: Company): Promise<void> {
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
    `3. It is merged. After ${(merged.ms / 1000).toFixed(1)} s the policies of support-desk carry the new version ${merged.manifest_sha}.`,
  )
  show(company, await completedCheck(company, 'svc / in force', merged.commit_sha))

  const loosening = openLoosening(company)
  print(`4. The account of a coding agent takes protection away in a pull request: ${at}/pull/${loosening.number}`)
  show(company, await completedCheck(company, 'svc / policies', loosening.head_sha))

  if (!values.once) print('Open the addresses in a browser. Ctrl+C ends the demonstration and removes its data.')
}

function show(company: Company, run: CheckRun): void {
  const { title } = run
  print(`   ${run.name}: ${run.conclusion}: ${title}`)
  print(`   ${pageOf(company, run)}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
