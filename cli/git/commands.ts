// The commands for manifests in Git: repositories, manifests, and assignments of manifests to agents.
import type { Command } from 'commander'
import { memberCommand } from '../account/subcommand.js'
import type { Terminal } from '../terminal.js'
import { assignmentSubcommands } from './assignments.js'
import { manifestSubcommands } from './manifests.js'
import { repositorySubcommands } from './repositories.js'
import { versionSubcommands } from './versions.js'

export const gitCommands: readonly ((terminal: Terminal) => Command)[] = [
  ...repositorySubcommands,
  ...manifestSubcommands,
  ...assignmentSubcommands,
  ...versionSubcommands,
].map((subcommand) => (terminal) => memberCommand(terminal, subcommand, subcommand.examples))
