// Outputs of tools in the items of Codex.

import { idOf, readable } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { Refusal, ResultAct } from './act.js'
import { contentOf, nameOf } from './content.js'

export function codexResult({ call_id, id, output, name, tools }: JsonMap): ResultAct {
  const given = output ?? tools ?? null
  const { content, exit_code, success } = outputIn(given)
  const refusal = refusalIn(content)
  return {
    kind: 'result',
    id: idOf(call_id) ?? idOf(id),
    content,
    is_error: success === false || (exit_code !== null && exit_code !== 0),
    refusal,
    is_certain: false,
    exit_code,
    launched: null,
    name: nameOf(name) === '' ? null : nameOf(name),
  }
}

interface Output {
  readonly content: unknown
  readonly exit_code: number | null
  readonly success: boolean | null
}

/** An output is text, blocks, or an object or its JSON text with the text and how the command ended. */
function outputIn(given: unknown): Output {
  const value = readable(given)
  if (isMap(value) && (value.output !== undefined || value.content !== undefined)) {
    const { output, content, metadata, exit_code, success } = value
    const text = contentOf(output ?? content)
    const ended = isMap(metadata) ? metadata.exit_code : exit_code
    return { content: text, exit_code: codeOf(ended), success: typeof success === 'boolean' ? success : null }
  }
  const content = contentOf(given)
  return { content, exit_code: typeof content === 'string' ? codeInHeader(content) : null, success: null }
}

function codeOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

const maxHeader = 500

/** The exit code in the lines that the program writes before the output of a command. */
function codeInHeader(text: string): number | null {
  const [header, output] = text.slice(0, maxHeader).split(/^Output:$/m, 2)
  if (output === undefined) return null
  const [, code] = /^(?:Exit code:|Process exited with code) (-?\d{1,9})$/m.exec(header ?? '') ?? []
  return code === undefined ? null : Number(code)
}

/** The program's own words for a call that the user refused; output of a command has a header before it. */
function refusalIn(content: unknown): Refusal | null {
  if (typeof content !== 'string') return null
  return /^(?:exec command|patch|apply_patch) rejected by user\b.{0,200}$/.test(content.trim()) ? 'person' : null
}
