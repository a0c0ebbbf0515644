// `svc import`: recorded runs become steps, in a file or straight on a platform.
import { Command } from 'commander'
import type { ImportOptions } from './target.js'

const example = `
Examples:
  svc import chat-completions runs.jsonl --out steps.jsonl
  svc import chat-completions runs.jsonl --to http://127.0.0.1:8080 --api-key SvcKey-…
  zcat runs.jsonl.gz | svc import chat-completions - --agent-key refund-desk --out steps.jsonl

Each line is one run: {"run_id": "…", "messages": [ … ]}. Importing a file twice adds nothing.

Exit codes: 0 all lines imported, 1 some lines were not, 2 usage`

export function importCommand(): Command {
  return new Command('import')
    .description('turn recorded runs into steps')
    .argument('<format>', 'chat-completions')
    .argument('<file>', 'one run a line (JSONL); - is standard input')
    .option('--agent-key <key>', 'who made the runs (default: the name of the file)')
    .option('--out <file>', 'write a step a line')
    .option('--to <url>', 'register the agent on a platform and log the steps there')
    .option('--api-key <key>', 'API key for --to (default: SVC_API_KEY)')
    .option('--tools <map.yaml>', 'step_type, verb and properties per tool name')
    .option('--start <time>', 'time of the first step, RFC 3339', '2026-01-01T00:00:00Z')
    .option('--resume', 'pass over the runs that were acknowledged before')
    .option('--json', 'print the summary as JSON')
    .addHelpText('after', example)
    .action(async (format: string, file: string, options: ImportOptions) => {
      const { runImport } = await import('./run.js')
      process.exitCode = await runImport(format, file, options)
    })
}
