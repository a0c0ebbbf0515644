// The command `svc`. A command loads its work when it runs, so that the others start fast.
import { versionLines } from '@svc/schemas'
import { Command, CommanderError } from 'commander'
import { accountCommand } from './account/account.js'
import { agentCommands } from './account/agents.js'
import { incidentCommands } from './account/incidents.js'
import { keyCommand } from './account/key.js'
import { loginCommand, logoutCommand, whoamiCommand } from './account/login.js'
import { stopCommands } from './account/stops.js'
import { taskCommands } from './account/tasks.js'
import { workspaceCommand } from './account/workspace.js'
import { attackDemoCommand } from './audit/attack-demo.js'
import { bundleCommand, checkpointCommand } from './audit/bundle.js'
import { reportCommand, reportsCommand } from './audit/report.js'
import { verifyCommand } from './audit/verify.js'
import { witnessCommand } from './audit/witness.js'
import { calledAs, currentCall } from './called-as.js'
import { completionCommand } from './completion/completion.js'
import { explainCommand } from './explain/explain.js'
import { gitCommands } from './git/commands.js'
import { importCommand } from './import/import.js'
import { checkCommand } from './manifests/check/check.js'
import { diffCommand } from './manifests/diff/diff.js'
import { docsCommand } from './manifests/docs/docs.js'
import { findingsCommand } from './manifests/findings.js'
import { initCommand } from './manifests/init/init.js'
import { replayCommand } from './manifests/replay/replay.js'
import { testCommand } from './manifests/validate/test.js'
import { validateCommand } from './manifests/validate/validate.js'
import { rulesCommand } from './rules/rules.js'
import { stepsCommand } from './rules/steps.js'
import { serveCommand } from './serve/serve.js'

const svc = calledAs(currentCall(process))
const program = new Command(svc)
  .description(
    'Policy as code for AI agents: evaluate steps locally, explain decisions, check manifests, replay recorded tasks, import recorded runs, list the rules, verify and witness logs.',
  )
  .version(versionLines(['svc', 'engine', 'proof']))
  .exitOverride()

const groups = {
  'Evaluate steps:': [serveCommand, explainCommand, rulesCommand, stepsCommand],
  'Write policies:': [
    initCommand,
    validateCommand,
    testCommand,
    checkCommand,
    diffCommand,
    docsCommand,
    findingsCommand,
  ],
  'Use recorded tasks:': [
    (name: string) =>
      replayCommand(name, async (...replay) => {
        const { replayOnPlatform } = await import('./account/platform-replay.js')
        return replayOnPlatform(...replay)
      }),
    importCommand,
  ],
  'Verify logs:': [verifyCommand, witnessCommand, attackDemoCommand, checkpointCommand, bundleCommand],
  'Get reports:': [reportCommand, reportsCommand],
  'Use manifests in Git:': gitCommands,
  'See agents and tasks:': [...agentCommands, ...taskCommands],
  'Answer incidents:': incidentCommands,
  'Stop agents:': stopCommands,
  'Use a platform:': [loginCommand, logoutCommand, whoamiCommand, accountCommand, workspaceCommand, keyCommand],
  'Other:': [completionCommand],
}
for (const [heading, commands] of Object.entries(groups))
  for (const command of commands) program.addCommand(command(svc).helpGroup(heading))
prepare(program, svc)

/** Errors of usage name the help of the command, and reach this file as a CommanderError. */
function prepare(command: Command, call: string): void {
  command.exitOverride().showHelpAfterError(`(\`${call} --help\` explains the command)`)
  for (const inner of command.commands) prepare(inner, `${call} ${inner.name()}`)
}

/** Commands that continue when the reader of their output has ended. */
const servers = ['serve', 'witness']

// A reader that ends, such as `head`, is not an error of the command. The exit code is the one that a shell reports for SIGPIPE,
// not 0, because the unprinted text may hold the verdict.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (!servers.includes(program.args[0] ?? '')) process.exit(code === 'EPIPE' ? 141 : 1)
  })

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Help and version are answers; everything else is a usage error.
  process.exitCode = error.exitCode === 0 ? 0 : 2
}
