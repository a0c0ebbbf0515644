// The agents of an inventory file.
import { type InventoryAgent, readInventory } from '@svc/engine/parts'
import { readText } from '@svc/proof/verify'
import { InputError } from '../errors.js'

/** The agents of the file. Throws InputError, naming the line and the member. */
export function agentsOf(path: string): readonly InventoryAgent[] {
  const { agents, problem } = readInventory(readText(path))
  if (problem !== null) throw new InputError(`${path}:${problem.line}:${problem.column}: ${problem.message}`)
  return agents
}
