// `svc completion`: prints a script that completes commands, options and values in a shell.
import { Argument, Command } from 'commander'
import type { Terminal } from '../terminal.js'

const example = (svc: string) => `
To install it, where svc is on PATH:
  bash  add to ~/.bashrc:                source <(svc completion bash)
  zsh   add to ~/.zshrc after compinit:  source <(svc completion zsh)
  fish  run once:                        svc completion fish > ~/.config/fish/completions/svc.fish

The script knows the commands, options, rules and findings of this version of svc.

Example:
  ${svc} completion bash

Exit codes: 0 ok, 2 usage`

export function completionCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('completion')
    .description('print a script for completion in bash, zsh or fish')
    .addArgument(new Argument('<shell>', 'the shell that runs the script').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', example(svc))
    .action(async (shell: 'bash' | 'zsh' | 'fish', _options: object, command: Command) => {
      const { scriptFor } = await import('./script.js')
      if (command.parent !== null) terminal.stdout.write(scriptFor(shell, command.parent))
    })
}
