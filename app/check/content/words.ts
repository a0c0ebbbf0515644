// Numbers and names in sentences.
import { markdownCode, markdownText } from '@svc/engine'

/** `1 agent`, `3 agents`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

interface ListOptions {
  readonly max?: number
  readonly last?: 'and' | 'or'
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function listed(words: readonly string[], { max = 5, last = 'and' }: ListOptions = {}): string {
  const more = words.length - max
  const shown = more > 0 ? [...words.slice(0, max), `${more} more`] : words
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${last} ${shown.at(-1)}`
}

/** The beginning of a text from outside. */
export function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text
}

const maxName = 120

/** A name from outside, in bold. */
export function boldName(name: string): string {
  return `**${markdownText(cut(name, maxName)) || '(no name)'}**`
}

/** A name from outside as running text. */
export function plainName(name: string): string {
  return markdownText(cut(name, maxName))
}

/** An agent in a cell of a table: its name, and its key below. */
export function agentCell({ name, agent_key }: { readonly name: string; readonly agent_key: string }): string {
  return `${boldName(name)}<br>${markdownCode(cut(agent_key, 100))}`
}

/** What a person does, in order. */
export function toDoList(items: readonly string[]): string {
  return `### What to do\n\n${items.map((item, index) => `${index + 1}. ${item}`).join('\n')}`
}

interface Named {
  readonly name: string
}

/** Agents by name, or their number where names are left out. */
export function agentWords(
  { hidden }: { readonly hidden: unknown },
  agents: readonly Named[],
  { isBold = false, max = 5 } = {},
): string {
  if (hidden !== null) return agents.length === 0 ? '' : counted(agents.length, 'agent')
  return listed(
    agents.map(({ name }) => (isBold ? boldName(name) : plainName(name))),
    { max },
  )
}
