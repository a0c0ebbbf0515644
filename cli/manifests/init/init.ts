// `svc init`: writes a manifest repository to begin with.
import { Command } from 'commander'
import type { Terminal } from '../../terminal.js'

const example = (svc: string) => `
Example:
  ${svc} init policies-of-my-team

Writes an example manifest with policies and tests, its schema and settings for editors, a workflow and code owners for GitHub,
an inventory of agents and a README. Existing files are never overwritten: when one of these exists, nothing is written.

Exit codes: 0 written, 1 a file exists or cannot be written, 2 usage`

export function initCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('init')
    .description('write a manifest repository to begin with: policies, tests, schema, workflow')
    .argument('<dir>', 'folder to write to; created when it does not exist')
    .addHelpText('after', example(svc))
    .action(async (folder: string, _options: object, command: Command) => {
      // An empty variable of a script must not mean the current folder.
      if (folder === '') command.error('error: the folder is empty text: write `.` for the current folder')
      const { runInit } = await import('./run.js')
      terminal.exit(await runInit(folder, svc, { out: terminal.stdout, err: terminal.stderr }))
    })
}
