// The program `svc-platform`: the platform, with the GitHub App where its variables are set.
import { runCommand } from '@svc/platform/command'

await runCommand(async () => (await import('./index.js')).configureGithubApp)
