// Null for an optional member means that it is left out: clients that serialize a model write all its members.
import type { JsonMap } from '@svc/schemas'

/** Removes the nulls that the schema does not allow from a value, in place. */
export type NullRemoval = (value: unknown) => void

interface Plan {
  /** Members that are optional and must not be null. */
  readonly optional: ReadonlySet<string>
  readonly members: ReadonlyMap<string, Plan>
  readonly items: Plan | null
}

/**
 * Removals by `$id`, for schemas that refer to each other by it; each is planned at its first use. Members that no schema
 * names, such as those of `input`, are not changed.
 */
export function createNullRemoval(schemas: Iterable<JsonMap>): (id: string) => NullRemoval {
  const by_id = new Map([...schemas].map((schema) => [String(schema.$id), schema]))
  const plans = new Map<string, Plan | null>()
  return (id) => {
    if (!plans.has(id)) plans.set(id, planOf(by_id.get(id), by_id))
    const plan = plans.get(id) ?? null
    return (value) => removeNulls(plan, value)
  }
}

function removeNulls(plan: Plan | null, value: unknown): void {
  if (plan === null || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (plan.items !== null) for (const item of value) removeNulls(plan.items, item)
    return
  }
  const map = value as Record<string, unknown>
  for (const key of Object.keys(map)) {
    if (map[key] === null) {
      if (plan.optional.has(key)) delete map[key]
    } else removeNulls(plan.members.get(key) ?? null, map[key])
  }
}

type Schemas = ReadonlyMap<string, JsonMap>

/** Null where there is nothing to remove. Schemas of requests do not refer to themselves. */
function planOf(schema: unknown, schemas: Schemas): Plan | null {
  const { properties = {}, required = [], items, anyOf = [] } = resolved(schema, schemas)
  const optional = new Set<string>()
  const members = new Map<string, Plan>()
  for (const [key, member] of Object.entries(properties as JsonMap)) {
    if (!(required as readonly string[]).includes(key) && !allowsNull(member, schemas)) optional.add(key)
    const plan = planOf(member, schemas)
    if (plan !== null) members.set(key, plan)
  }
  const each = items === undefined ? null : planOf(items, schemas)
  if (optional.size > 0 || members.size > 0 || each !== null) return { optional, members, items: each }
  const alternatives = (anyOf as readonly unknown[]).map((one) => planOf(one, schemas))
  return alternatives.find((plan) => plan !== null) ?? null
}

function resolved(schema: unknown, schemas: Schemas): JsonMap {
  const own = (schema ?? {}) as JsonMap
  return typeof own.$ref === 'string' ? (schemas.get(own.$ref) ?? {}) : own
}

function allowsNull(schema: unknown, schemas: Schemas): boolean {
  const { type, enum: values, const: only, anyOf } = resolved(schema, schemas)
  if (Array.isArray(anyOf)) return anyOf.some((one) => allowsNull(one, schemas))
  if (type !== undefined) return [type].flat().includes('null')
  if (Array.isArray(values)) return values.includes(null)
  return only === undefined || only === null
}
