// The command `svc`, as a function of its arguments and streams. A command loads its work when it runs, so that the others start fast.
import { versionLines } from '@svc/schemas'
import { Command, CommanderError, type OutputConfiguration } from 'commander'
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
import type { Terminal } from './terminal.js'

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
    (terminal: Terminal) =>
      replayCommand(terminal, async (...replay) => {
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

/** Runs a command: sets its exit code, and resolves once its work is done. */
export async function main(words: readonly string[], terminal: Terminal): Promise<void> {
  const { svc, stdout, stderr, exit } = terminal
  const program = new Command(svc)
    .description(
      'Policy as code for AI agents: evaluate steps locally, explain decisions, check manifests, replay recorded tasks, import recorded runs, list the rules, verify and witness logs.',
    )
    .version(versionLines(['svc', 'engine', 'proof']))
  for (const [heading, commands] of Object.entries(groups))
    for (const command of commands) program.addCommand(command(terminal).helpGroup(heading))
  prepare(program, svc, { writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version are answers; everything else is a usage error.
    exit(error.exitCode === 0 ? 0 : 2)
  }
}

/** Errors of usage name the help of the command, and reach `main` as a CommanderError. */
function prepare(command: Command, call: string, output: OutputConfiguration): void {
  command.exitOverride().configureOutput(output).showHelpAfterError(`(\`${call} --help\` explains the command)`)
  for (const inner of command.commands) prepare(inner, `${call} ${inner.name()}`, output)
}
