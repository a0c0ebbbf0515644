// `svc diff`: reads both sides, compares them, and prints what differs.
import type { Writable } from 'node:stream'
import {
  type DiffReport,
  diffFiles,
  diffMarkdown,
  diffText,
  type InventoryAgent,
  type Paint,
  readInventory,
} from '@svc/engine/parts'
import { jsonText, printable } from '@svc/proof'
import { readText } from '@svc/proof/verify'
import { InputError, UsageError } from '../../errors.js'
import { pairSides, type UnreadablePart } from './pairs.js'
import { readSide } from './side.js'

export interface DiffOptions {
  readonly inventory?: string
  readonly failOn?: 'looser' | 'changed'
  readonly json?: true
  readonly markdown?: true
}

/** Returns the exit code. */
export async function runDiff(
  old: string,
  next: string,
  options: DiffOptions,
  out: Writable & { readonly isTTY?: boolean },
  err: Writable,
): Promise<number> {
  try {
    const agents = options.inventory === undefined ? [] : agentsOf(options.inventory)
    const { files, unreadable } = pairSides(await readSide(old), await readSide(next))
    for (const { file, line, column, message } of unreadable)
      err.write(`${printable(`${file}:${line}:${column}: ${message}`)}\n`)
    const report = diffFiles(files, agents)
    out.write(printed(report, unreadable, options, out.isTTY === true))
    return unreadable.length > 0 || fails(report, options.failOn) ? 1 : 0
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof InputError || isFileError(error))) throw error
    err.write(`svc diff: ${printable(error.message)}\n`)
    return error.code === 'USAGE' ? 2 : 1
  }
}

/** The agents of an inventory file. Throws InputError, naming the line and the member. */
function agentsOf(path: string): readonly InventoryAgent[] {
  const { agents, problem } = readInventory(readText(path))
  if (problem !== null) throw new InputError(`${path}:${problem.line}:${problem.column}: ${problem.message}`)
  return agents
}

function isFileError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

function printed(
  report: DiffReport,
  unreadable: readonly UnreadablePart[],
  { json, markdown }: DiffOptions,
  colours: boolean,
): string {
  if (json === true) return `${jsonText({ ...report, unreadable })}\n`
  const left_out = [...new Set(unreadable.map(({ file }) => file))]
  if (markdown === true) return diffMarkdown(report, left_out)
  return [...diffText(report, left_out, colours ? painted : undefined), ''].join('\n')
}

const codes: Readonly<Record<Parameters<Paint>[0], number>> = {
  removed: 31,
  looser: 31,
  changed: 33,
  stricter: 32,
  added: 32,
  none: 2,
}

const painted: Paint = (change, text) => `\u001b[${codes[change]}m${text}\u001b[0m`

function fails({ manifests, ungoverned_agents }: DiffReport, on: DiffOptions['failOn']): boolean {
  if (on === undefined) return false
  const failing = new Set(['looser', 'removed', ...(on === 'changed' ? ['changed'] : [])])
  const changes = manifests.flatMap(({ policies, waivers, agents }) => [
    ...policies,
    ...waivers,
    ...agents.flatMap((agent) => agent.policies),
  ])
  return ungoverned_agents.length > 0 || changes.some(({ change }) => failing.has(change))
}
