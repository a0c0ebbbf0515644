// Guesses about tools, for a person to check: an entry for the file of `--tools` each.
import { meaningOf, type ToolMap } from '@svc/engine'
import { type DoubtCode, type Guess, readYaml } from '@svc/engine/parts'
import type { JsonMap } from '@svc/schemas'

export interface GuessedTool {
  readonly tool: string
  /** The reason why the guess can change a decision. */
  readonly reasons: readonly string[]
  /** The meaning in the imported steps. */
  readonly guessed: JsonMap
  /** The entry for the file of `--tools`; it has labels that a name cannot show. */
  readonly entry: JsonMap
}

/** The tools whose meaning may be another one in a way that can change a decision. */
export function guessedTools(tools: readonly string[], map: ToolMap): GuessedTool[] {
  return tools.flatMap((tool) => {
    const { doubts, suggested, ...guessed } = meaningOf(tool, map)
    if (doubts.length === 0) return []
    const reasons = doubts.map((code) => reasonOf(code, { doubts, ...guessed }))
    const entry = { ...guessed, ...(suggested !== undefined && { properties: suggested }) }
    return [{ tool, reasons, guessed: { ...guessed }, entry }]
  })
}

function reasonOf(code: DoubtCode, { step_type, verb }: Guess): string {
  switch (code) {
    case 'unknown':
      return 'the name reveals nothing, so it counts as a write'
    case 'verb':
      return verb === 'GET' ? 'may change something' : 'may be another verb, or only read'
    case 'type':
      return `${step_type} by its name only`
    case 'labels':
      return 'reads the web by its name; these labels are in the steps'
    case 'unlabelled':
      return verb === 'GET'
        ? 'may return what people outside wrote; the steps have no label yet: third_party, public or own'
        : 'may send to people outside; the steps have no label yet: external or internal'
  }
}

/** The entries as YAML that `--tools` accepts, each below its reasons; an entry that it rejects is a comment. */
export function toolsYaml(tools: readonly GuessedTool[]): string[] {
  return tools.flatMap(({ tool, reasons, entry }) => {
    const text = `${keyText(tool)}: ${flowText(entry)}`
    const lines =
      readYaml(text).problems.length === 0
        ? text.split('\n')
        : [`# a file cannot have this name: ${text.replaceAll('\n', ' ')}`]
    return [`# ${reasons.join('; ')}`, ...lines]
  })
}

/** A longer key is not a key of one line in YAML. */
const maxKeyLength = 1000

function keyText(name: string): string {
  const text = scalarText(name)
  return text.length > maxKeyLength ? `? ${text}\n` : text
}

function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]) => `${scalarText(key)}: ${flowText(member)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  return typeof value === 'string' ? scalarText(value) : JSON.stringify(value)
}

/** Words that YAML reads as another value, in any of its versions. */
const reserved = /^(true|false|null|yes|no|on|off|y|n)$/i

/** Text as YAML: a plain word, else quoted, with every character escaped that a terminal does not show as it is. */
function scalarText(text: string): string {
  if (/^[A-Za-z_][\w.-]*$/.test(text) && !reserved.test(text)) return text
  return JSON.stringify(text).replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}
