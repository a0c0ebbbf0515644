// The cases of test/cases/memory.yaml.
import { readFileSync } from 'node:fs'
import { lazyCheck } from '@svc/engine/parts'
import type { Behavior, JsonMap } from '@svc/schemas'
import { parse } from 'yaml'

export interface MemoryStep extends Pick<Behavior, 'verb' | 'input' | 'output' | 'properties' | 'meta'> {
  readonly task: string
  readonly agent?: string
  /** The label of content that the task receives, instead of a step of the memory. */
  readonly read?: 'own' | 'third_party' | 'public' | 'by part'
  readonly labels?: unknown
}

export interface MemoryCase {
  readonly name: string
  readonly steps: readonly (MemoryStep | 'restart')[]
}

const labels = ['own', 'third_party', 'public']
const checkCases = lazyCheck({
  type: 'array',
  items: {
    type: 'object',
    required: ['name', 'steps'],
    additionalProperties: false,
    properties: {
      name: { type: 'string' },
      steps: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'restart' },
            {
              type: 'object',
              required: ['task'],
              additionalProperties: false,
              properties: {
                task: { type: 'string' },
                agent: { type: 'string' },
                read: { enum: [...labels, 'by part'] },
                verb: { enum: ['GET', 'POST', 'PATCH', 'DELETE'] },
                input: { type: 'object' },
                output: { type: 'object' },
                properties: { type: 'object' },
                meta: { type: 'object' },
                labels: { anyOf: [{ type: 'null' }, { enum: labels }, { type: 'object' }] },
              },
            },
          ],
        },
      },
    },
  },
})

/** Throws for an invalid file. */
export function memoryCases(): MemoryCase[] {
  const written: unknown = parse(readFileSync(new URL('../../cases/memory.yaml', import.meta.url), 'utf8'))
  const [problem] = checkCases(written)
  if (problem !== undefined) throw new Error(`memory.yaml, ${problem.path.join('.')}: ${problem.message}`)
  return written as MemoryCase[]
}

/** The step of a case. */
export function stepOf({ task, agent = 'clerk', read, labels: _, ...step }: MemoryStep): Behavior {
  const ids = { task_id: task, agent_id: agent }
  if (read === undefined) return { step_type: 'step.self', step_name: 'notes', ...ids, ...step }
  const content: JsonMap = read === 'by part' ? { trust_of: { 'mails.*.body': 'third_party' } } : { trust: read }
  return {
    step_type: 'step.resource',
    verb: 'GET',
    step_name: 'inbox',
    ...ids,
    output: { text: 'a letter' },
    properties: { content },
  }
}
