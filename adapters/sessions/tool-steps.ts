// The steps of one call of a tool with its result.

import { meaningOf, type ToolMap } from '@svc/engine'
import {
  argumentsOf,
  type Body,
  callId,
  eachShallow,
  type Meanings,
  readable,
  readHost,
  shallow,
  type ToolMeaning,
} from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { CallAct, ResultAct } from './act.js'
import { contentOf } from './content.js'
import { type CodingFormatName, type KnownTool, knownTool } from './known-tools.js'
import { filesOfPatch } from './patch.js'

export interface ToolSettings {
  readonly format: CodingFormatName
  readonly tools: ToolMap
  /** The guesses for tools that are not known. */
  readonly meanings: Meanings
}

export interface FinishedCall {
  readonly call: CallAct
  /** Null for a call without a result. */
  readonly result: ResultAct | null
  /** The folder in which the agent worked; null when it is unknown, or the root of the project. */
  readonly folder: string | null
}

/** The steps of a call: one for each file of a patch, otherwise one; a person's refusal is a gate before it. */
export function toolSteps(finished: FinishedCall, settings: ToolSettings): Body[] {
  const { call, result } = finished
  const known = knownTool(settings.format, call.name)
  const files = known === null ? [] : filesOfPatch(patchIn(call, known))
  const input = argumentsOf({ id: call.id, name: call.name, arguments: call.input })
  const steps =
    files.length === 0
      ? [toolStep(finished, settings, input, factsOf(known, input, finished.folder), null)]
      : files.map(({ verb, path, patch }) =>
          toolStep(finished, settings, { path, patch }, pathFacts(path, finished.folder), {
            step_type: 'step.resource',
            verb,
          }),
        )
  return result?.refusal === 'person' ? [refusalGate(call), ...steps] : steps
}

/** The user was asked, and said no: no approval is derived from a call that ran, because nothing shows who allowed it. */
function refusalGate({ id, name }: CallAct): Body {
  return {
    step_type: 'step.gate',
    step_name: name,
    ...(id !== null && { input: { call_id: id } }),
    properties: { guard: { check_type: 'human_approval', result: 'rejected' } },
  }
}

function toolStep(
  { call, result }: FinishedCall,
  settings: ToolSettings,
  input: JsonMap,
  facts: JsonMap,
  change: ToolMeaning | null,
): Body {
  const { step_type, verb, properties = {} } = meaningIn(settings, call.name, facts, change)
  return {
    step_type,
    ...(verb !== undefined && { verb }),
    step_name: call.name,
    input,
    ...(result !== null && { output: outputOf(result) }),
    properties: call.id === null ? properties : { ...properties, ...callId(call.id, properties.tool) },
  }
}

/** The meaning by the tool map, else as the tool is known, else as its name suggests. */
function meaningIn(
  { format, tools, meanings }: ToolSettings,
  name: string,
  facts: JsonMap,
  change: ToolMeaning | null,
) {
  const known = knownTool(format, name)
  if (known === null) {
    const { step_type, verb, properties } = meanings(name)
    const source = serverOf(name)
    const named = source === null ? {} : { tool: { source } }
    return { step_type, verb, properties: merged(named, properties ?? {}) }
  }
  const own = { ...known, ...change }
  const mapped = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (mapped === undefined) return { ...own, properties: merged(known.properties ?? {}, facts) }
  const step_type = mapped.step_type ?? own.step_type
  const isSame = step_type === own.step_type
  return {
    step_type,
    verb: mapped.verb ?? (isSame ? own.verb : meaningOf(name, tools).verb),
    properties: merged(
      merged(mapped.properties === undefined && isSame ? (known.properties ?? {}) : {}, facts),
      mapped.properties ?? {},
    ),
  }
}

/** The server of `mcp__server__tool`, where the tool comes from. */
function serverOf(name: string): string | null {
  return /^mcp__(.+?)__/.exec(name)?.[1] ?? null
}

/** Both maps; where both have an object, its members are joined, and those of `later` win. */
function merged(first: JsonMap, later: JsonMap): JsonMap {
  const result: Record<string, unknown> = { ...first }
  for (const [key, value] of Object.entries(later)) {
    const other = result[key]
    result[key] = isMap(other) && isMap(value) ? { ...other, ...value } : value
  }
  return result
}

/** The arguments that policies read: the command, the path, the host. */
function factsOf(known: KnownTool | null, input: JsonMap, folder: string | null): JsonMap {
  if (known === null) return {}
  const command = firstOf(input, known.command)
  const path = firstOf(input, known.path)
  const url = firstOf(input, known.url)
  const server = known.server === undefined ? undefined : input[known.server]
  const host = typeof url === 'string' ? readHost(url) : null
  return {
    ...(isCommand(command) && { exec: { command } }),
    ...(typeof path === 'string' && path !== '' && pathFacts(path, folder)),
    ...(host?.kind === 'host' && { target: { host: host.host } }),
    ...(typeof server === 'string' && server !== '' && { tool: { source: server } }),
  }
}

/** The first of the arguments that is present; arguments that are plain text are kept as `arguments`. */
function firstOf(input: JsonMap, names: readonly string[] = []): unknown {
  if (names.length === 0) return undefined
  const name = names.find((each) => input[each] !== undefined && input[each] !== null)
  return input[name ?? 'arguments']
}

function isCommand(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((part) => typeof part === 'string')
  return typeof value === 'string' && value !== ''
}

function pathFacts(path: string, folder: string | null): JsonMap {
  return { target: { resource_type: 'file', path: folder === null || isAbsolute(path) ? path : joined(folder, path) } }
}

function isAbsolute(path: string): boolean {
  return /^(?:[\\/~$%]|[A-Za-z]:|file:)/i.test(path)
}

function joined(folder: string, path: string): string {
  return `${folder.replace(/[\\/]+$/, '')}${folder.includes('\\') ? '\\' : '/'}${path}`
}

/** The patch of a call; older models call `apply_patch` as a command. */
function patchIn({ input }: CallAct, { patch, command = [] }: KnownTool): string {
  const value = readable(input)
  const given = isMap(value) ? firstOf(value, patch === undefined ? command : [patch, 'patch']) : value
  if (patch !== undefined) return typeof given === 'string' ? given : ''
  return Array.isArray(given) && given[0] === 'apply_patch' && typeof given[1] === 'string' ? given[1] : ''
}

/** `blocked` is the word for a step that did not happen. */
function outputOf({ content, is_error, refusal, exit_code }: ResultAct): JsonMap {
  const status = refusal !== null ? 'blocked' : is_error ? 'error' : null
  return eachShallow({
    ...(status !== null && { status }),
    ...(exit_code !== null && { exit_code }),
    content: shallow(readable(contentOf(content))),
  })
}
