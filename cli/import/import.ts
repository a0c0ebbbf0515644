// `svc import`: converts recorded runs, spans and traces into steps, in a file or on a platform.
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'
import { defaultStart } from './reading/default-start.js'
import type { ImportOptions } from './reading/options.js'

const example = (svc: string) => `
Examples:
  ${svc} import chat-completions runs.jsonl --out steps.jsonl
  ${svc} import chat-completions runs.jsonl --to http://127.0.0.1:8080 --api-key SvcKey-…
  zcat runs.jsonl.gz | ${svc} import chat-completions - --agent-key refund-desk --out steps.jsonl
  ${svc} import recorder runs/ --tools tools.yaml --out steps.jsonl
  ${svc} import otel spans.jsonl --out steps.jsonl
  ${svc} import trace data/traces.jsonl --to http://127.0.0.1:8080 --api-key SvcKey-…
  ${svc} import claude-code ~/.claude/projects --out steps.jsonl
  ${svc} import codex ~/.codex/sessions --to http://127.0.0.1:8080 --api-key SvcKey-…

Formats:
  chat-completions  {"run_id": "…", "messages": [ … ]}, calls as {"function": {"name": "…", "arguments": "…"}}
  recorder          {"messages": [ … ]}, calls as {"function": "…", "args": { … }}, content as text or blocks of text
  claude-code       sessions of Claude Code: ~/.claude/projects/FOLDER/SESSION.jsonl
  codex             sessions of Codex: ~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl
  otel              spans of OpenTelemetry as OTLP JSON, with the attributes gen_ai.* of the conventions, new or old
  trace             lines of the trace of the local engine (traces.jsonl), or steps of --out
A file of runs has one run per line, or is one JSON document: a run or a list of runs. Of a folder, all files that end in .json,
.jsonl or .ndjson are read, sorted by path. In a document, a run without run_id has the name of its file.

Spans may be one document or one request per line, in any order. A task is a trace, or with --task-by conversation all
traces with one gen_ai.conversation.id. The steps have the times of the spans. The agent is that of the spans
(gen_ai.agent.id, gen_ai.agent.name, service.name) or of the trace, unless --agent-key names one for all. Spans that are no
act of an agent, such as requests to a database, and lines that are no steps are counted in the report.

A session of a coding agent is a task with the id of the session, and --agent-key is claude-code or codex by default. The
tools of these agents are known. Sub-agents of Claude Code are read from the files beside the session. Importing a session
that has grown adds what is new; what may still change at its end is left out, unless --ended states that it is over.

What a tool does is guessed from its name. The report lists every guess that can change a decision, as an entry for the
file of --tools; correct it there.

Importing again adds nothing; after an interruption, run the same command again. Complete the tool map with --out before
--to: a platform stores steps again that the map has changed, or that a new file in the folder has given another time.

Exit codes: 0 all runs imported, 1 some were not imported, 2 usage`

export function importCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('import')
    .description('convert recorded runs, sessions, spans and traces into steps')
    .argument('<format>', 'chat-completions, recorder, claude-code, codex, otel or trace')
    .argument('<file>', 'file or folder of runs, spans or steps; - is standard input')
    .option(
      '--agent-key <key>',
      'agent of the runs (default: the name of the file, folder or coding agent; otel, trace: their own)',
    )
    .option('--out <file>', 'write the steps to a file, one per line')
    .option('--to <url>', 'register the agent on a platform and log the steps there')
    .option('--api-key <key>', 'API key for --to (default: SVC_API_KEY)')
    .option('--tools <map.yaml>', 'file with step_type, verb and properties per tool name')
    .option('--start <time>', 'time of the first step of runs, RFC 3339', defaultStart)
    .option('--task-by <id>', 'tasks of otel: trace (default) or conversation')
    .option('--ended', 'claude-code, codex: the sessions are over; include their last steps and end the tasks')
    .option('--json', 'print JSON')
    .addHelpText('after', example(svc))
    .action(async (format: string, file: string, options: ImportOptions) => {
      const { runImport } = await import('./run.js')
      terminal.exit(await runImport(format, { terminal, file, options }))
    })
}
