// `svc import`: converts recorded runs into steps, in a file or on a platform.
import { Command } from 'commander'
import type { ImportOptions } from './options.js'

const example = (svc: string) => `
Examples:
  ${svc} import chat-completions runs.jsonl --out steps.jsonl
  ${svc} import chat-completions runs.jsonl --to http://127.0.0.1:8080 --api-key SvcKey-…
  zcat runs.jsonl.gz | ${svc} import chat-completions - --agent-key refund-desk --out steps.jsonl

Each line is one run: {"run_id": "…", "messages": [ … ]}. Importing a file again adds nothing; after an interruption, run
the same command again.

Exit codes: 0 all lines imported, 1 some lines were not imported, 2 usage`

export function importCommand(svc: string): Command {
  return new Command('import')
    .description('convert recorded runs into steps')
    .argument('<format>', 'chat-completions')
    .argument('<file>', 'one run per line (JSONL); - is standard input')
    .option('--agent-key <key>', 'agent of the runs (default: the name of the file)')
    .option('--out <file>', 'write the steps to a file, one per line')
    .option('--to <url>', 'register the agent on a platform and log the steps there')
    .option('--api-key <key>', 'API key for --to (default: SVC_API_KEY)')
    .option('--tools <map.yaml>', 'file with step_type, verb and properties per tool name')
    .option('--start <time>', 'time of the first step, RFC 3339', '2026-01-01T00:00:00Z')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (format: string, file: string, options: ImportOptions) => {
      const { runImport } = await import('./run.js')
      process.exitCode = await runImport(format, file, options)
    })
}
