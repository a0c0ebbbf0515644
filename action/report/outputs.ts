// The outputs of the step, in the file that the runner reads.
import type { Report } from './report.js'

/** Every output with its value as text, in the order of action.yml. */
export function outputsOf({ totals, valid }: Report): ReadonlyMap<string, string> {
  const { affected_agents, ungoverned_agents, ...numbers } = totals
  const rows = Object.entries(numbers).map(
    ([name, value]) => [name.replace('_', '-'), value === null ? '' : `${value}`] as const,
  )
  return new Map([
    ['valid', `${valid}`],
    ...rows,
    ['affected-agents', JSON.stringify(affected_agents)],
    ['ungoverned-agents', JSON.stringify(ungoverned_agents)],
  ])
}

/**
 * The text to append to the file. No value can end its own part: the delimiter is random. Throws when a value holds it all the
 * same, so that nothing is written.
 */
export function outputText(outputs: ReadonlyMap<string, string>, randomName: () => string): string {
  return [...outputs]
    .map(([name, value]) => {
      const delimiter = `end_${randomName()}`
      if (value.includes(delimiter)) throw new Error(`the output ${name} holds its own delimiter`)
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`
    })
    .join('')
}
