// The tools that coding agents bring with them: what each does, and which of its arguments policies read.
import type { Body, Verb } from '@svc/engine/parts'
import type { JsonMap } from '@svc/schemas'

export type CodingFormatName = 'claude-code' | 'codex'

export interface KnownTool {
  readonly step_type: Body['step_type']
  readonly verb?: Verb
  readonly properties?: JsonMap
  /** The arguments with the command, the path or the address; the first that is present counts. */
  readonly command?: readonly string[]
  readonly path?: readonly string[]
  readonly url?: readonly string[]
  /** The argument with a patch, whose files become steps. */
  readonly patch?: string
  /** The argument with the server that provides what is read. */
  readonly server?: string
  /** Starts a sub-agent whose steps are in the same transcript. */
  readonly spawns?: true
}

type Tools = Readonly<Record<string, KnownTool>>

const each = (names: string, tool: KnownTool): Tools => Object.fromEntries(names.split(' ').map((name) => [name, tool]))

const ofTheWeb: JsonMap = { target: { trust: 'external' }, content: { trust: 'public' } }
/** A sub-agent is the agent itself with another conversation. */
const withAgent: JsonMap = { counterpart: { kind: 'agent', trust: 'internal' } }
const withUser: JsonMap = { counterpart: { kind: 'user' } }
const ofProcess: JsonMap = { target: { resource_type: 'process' } }

const read = (...path: string[]): KnownTool => ({ step_type: 'step.resource', verb: 'GET', path })
const ofServer = (verb: Verb): KnownTool => ({ step_type: 'step.resource', verb, server: 'server' })
const self = (verb: Verb): KnownTool => ({ step_type: 'step.self', verb })
const command = (...names: string[]): KnownTool => ({ step_type: 'step.exec', command: names })
const toAgent: KnownTool = { step_type: 'step.message', verb: 'POST', properties: withAgent }
const fromAgent: KnownTool = { step_type: 'step.message', verb: 'GET', properties: withAgent }
const toUser: KnownTool = { step_type: 'step.message', verb: 'POST', properties: withUser }

const claudeCode: Tools = {
  ...each('Bash PowerShell', command('command')),
  ...each('BashOutput AgentOutputTool TaskOutput Monitor', {
    step_type: 'step.resource',
    verb: 'GET',
    properties: ofProcess,
  }),
  ...each('KillBash KillShell TaskStop', { step_type: 'step.resource', verb: 'DELETE', properties: ofProcess }),
  ...each('Read NotebookRead', read('file_path', 'notebook_path')),
  ...each('Glob Grep LS', read('path')),
  LSP: read('filePath', 'file_path'),
  Write: { step_type: 'step.resource', verb: 'POST', path: ['file_path'] },
  ...each('Edit MultiEdit', { step_type: 'step.resource', verb: 'PATCH', path: ['file_path'] }),
  NotebookEdit: { step_type: 'step.resource', verb: 'PATCH', path: ['notebook_path'] },
  ...each('WebFetch WebSearch web_search web_fetch', {
    step_type: 'step.resource',
    verb: 'GET',
    properties: ofTheWeb,
    url: ['url'],
  }),
  ...each('Task Agent', { ...toAgent, spawns: true }),
  SendMessage: toAgent,
  ...each('AskUserQuestion ExitPlanMode', toUser),
  ...each('TodoWrite TaskCreate TaskUpdate EnterPlanMode StructuredOutput', self('POST')),
  ...each('TodoRead TaskList TaskGet Skill SlashCommand ToolSearch', self('GET')),
  ...each('ListMcpResourcesTool ReadMcpResourceTool', ofServer('GET')),
}

const codex: Tools = {
  ...each('shell container.exec local_shell shell_command', command('command')),
  ...each('exec_command unified_exec', command('cmd', 'command', 'input')),
  write_stdin: command('chars'),
  // The code of a program that calls other tools.
  ...each('exec js_repl', command('input', 'code')),
  apply_patch: { step_type: 'step.resource', verb: 'PATCH', patch: 'input' },
  ...each('read_file view_image', read('file_path', 'path')),
  list_dir: read('dir_path', 'path'),
  grep_files: read('path'),
  web_search: { step_type: 'step.resource', verb: 'GET', properties: ofTheWeb, url: ['url'] },
  ...each('spawn_agent send_input send_message followup_task resume_agent close_agent', toAgent),
  ...each('wait wait_agent list_agents', fromAgent),
  ...each('request_user_input request_permissions', toUser),
  ...each('update_plan create_goal update_goal', self('POST')),
  ...each('get_goal tool_search', self('GET')),
  ...each('list_mcp_resources list_mcp_resource_templates read_mcp_resource', ofServer('GET')),
}

const tools: Readonly<Record<CodingFormatName, Tools>> = { 'claude-code': claudeCode, codex }

/** The known facts about a tool of the agent; null for a tool of a user or a server, whose name must be guessed. */
export function knownTool(format: CodingFormatName, name: string): KnownTool | null {
  return (Object.hasOwn(tools[format], name) && tools[format][name]) || null
}
