// Names of agents in sentences, and lists of what to do.
import { boldName, counted, listed, markdownCode, markdownText, shortened } from '@svc/engine/parts'

/** A name from outside as running text. */
export function plainName(name: string): string {
  return markdownText(shortened(name, 120))
}

/** An agent in a cell of a table: its name, and its key below. */
export function agentCell({ name, agent_key }: { readonly name: string; readonly agent_key: string }): string {
  return `${boldName(name)}<br>${markdownCode(shortened(agent_key, 100))}`
}

/** The actions of a person, in order. */
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
