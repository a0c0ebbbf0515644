// The agents of an inventory file.
import { type InventoryAgent, lazyCheck, readYaml } from '@svc/engine'
import { readText } from '@svc/proof/verify'
import { InputError } from './input-error.js'

const text = { type: 'string', minLength: 1 }
const agents = {
  type: 'array',
  items: {
    type: 'object',
    required: ['agent_key'],
    properties: {
      agent_key: text,
      name: { type: ['string', 'null'] },
      risk_classification: {
        type: ['string', 'null'],
        enum: ['minimal', 'limited', 'high', 'unacceptable', 'unclassified', null],
      },
      declared_tools: { type: ['array', 'null'] },
      manifests: { type: 'array', items: text },
    },
  },
}
const check = lazyCheck({ type: 'object', required: ['agents'], properties: { agents } }, 'yaml')

/** The agents of a list, or of a map with `agents`. Throws InputError, naming the line or the member. */
export function readInventory(path: string): InventoryAgent[] {
  const { value, problems, positionOf } = readYaml(readText(path))
  const [unreadable] = problems
  if (unreadable !== undefined)
    throw new InputError(`${path}:${unreadable.line}:${unreadable.column}: ${unreadable.message}`)
  const listed = Array.isArray(value)
  const written = listed ? { agents: value } : value
  const [problem] = check(written)
  if (problem !== undefined) {
    const inFile = listed ? problem.path.slice(1) : problem.path
    const { line, column } = positionOf(inFile, problem.at_key)
    throw new InputError(`${path}:${line}:${column}: \`${inFile.join('.') || 'the inventory'}\` ${problem.message}`)
  }
  return (written as { agents: (InventoryAgent & { name?: string | null })[] }).agents.map((agent) => ({
    agent_key: agent.agent_key,
    name: agent.name ?? undefined,
    risk_classification: agent.risk_classification,
    manifests: agent.manifests,
  }))
}
