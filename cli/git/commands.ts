// The commands for manifests in Git: repositories, manifests, and assignments of manifests to agents.
import { memberCommands } from '../account/subcommand.js'
import { assignmentSubcommands } from './assignments.js'
import { manifestSubcommands } from './manifests.js'
import { repositorySubcommands } from './repositories.js'
import { versionSubcommands } from './versions.js'

export const gitCommands = memberCommands([
  ...repositorySubcommands,
  ...manifestSubcommands,
  ...assignmentSubcommands,
  ...versionSubcommands,
])
