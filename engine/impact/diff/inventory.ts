// The agents that a person lists, to see for whom a change has an effect.
import { lazyCheck } from '../../check/schema-check.js'
import { readYaml } from '../../manifest/yaml/read-yaml.js'
import type { InventoryAgent } from './files.js'

export interface InventoryReading {
  /** Empty with a problem. */
  readonly agents: readonly InventoryAgent[]
  readonly problem: { readonly line: number; readonly column: number; readonly message: string } | null
}

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

/** Reads YAML or JSON: a list of agents, or a map with `agents`. Never throws. */
export function readInventory(source: string): InventoryReading {
  const { value, problems, positionOf } = readYaml(source)
  const [unreadable] = problems
  if (unreadable !== undefined) return { agents: [], problem: unreadable }
  const is_list = Array.isArray(value)
  const written = is_list ? { agents: value } : value
  const [problem] = check(written)
  if (problem !== undefined) {
    const path = is_list ? problem.path.slice(1) : problem.path
    const message = `\`${path.join('.') || 'the inventory'}\` ${problem.message}`
    return { agents: [], problem: { ...positionOf(path, problem.at_key), message } }
  }
  const rows = (written as { agents: (InventoryAgent & { name?: string | null })[] }).agents
  return {
    agents: rows.map(({ agent_key, name, risk_classification, manifests }) => {
      return { agent_key, name: name ?? undefined, risk_classification, manifests }
    }),
    problem: null,
  }
}
