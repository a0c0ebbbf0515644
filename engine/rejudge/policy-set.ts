// The policies of a step, from their text in the bundle.
import { isMap, parseStoredJson } from '@svc/proof'
import { lazyCheck } from '../check/schema-check.js'
import { compile, type PolicySet } from '../policy/compile.js'
import type { PolicyInput } from '../policy/policy-input.js'

export interface ReadPolicySet {
  readonly set: PolicySet
  readonly policies: ReadonlyMap<number, PolicyInput>
  /** Policies in effect that this engine rejects. */
  readonly rejected: ReadonlySet<number>
}

/** Larger sets are not read: no platform makes one, and every step would cost as much. */
const limits = { policies: 10_000, characters: 8 * 1024 * 1024 }

const text = { type: 'string' } as const

/** The members that an evaluation reads. */
const shape = lazyCheck({
  type: 'array',
  maxItems: limits.policies,
  items: {
    type: 'object',
    required: ['id', 'name', 'rule_type', 'params', 'scope', 'severity', 'enabled', 'mode', 'version'],
    properties: {
      id: { type: 'integer' },
      name: text,
      rule_type: text,
      params: { type: 'object' },
      scope: { enum: ['agent_registration', 'step_execution', 'task_execution'] },
      severity: { enum: ['low', 'medium', 'high', 'critical'] },
      enabled: { type: 'boolean' },
      mode: { enum: ['enforce', 'observe'] },
      version: { type: 'integer' },
      waived_until: { type: ['number', 'null'] },
      approval: { type: ['object', 'null'], properties: { binds: { type: 'array', items: text }, check_type: text } },
    },
  },
})

/** The compiled policies; null when the text holds none, or more than are read. */
export function readPolicySet(body: string): ReadPolicySet | null {
  if (body.length > limits.characters) return null
  const reading = parseStoredJson(body)
  const value = reading.problem === null ? reading.value : null
  if (!Array.isArray(value) || !value.every(isMap) || shape(value).length > 0) return null
  const policies = value as unknown as PolicyInput[]
  try {
    const set = compile(policies)
    const rejected = new Set(set.dropped.flatMap(({ policy_id }) => policy_id ?? []))
    return { set, policies: new Map(policies.map((policy) => [policy.id, policy])), rejected }
  } catch {
    // No policy of a platform makes the compiler throw anything but what it rejects.
    return null
  }
}
