// Whose data a store function may touch, and on whose behalf. Nothing reads or writes a tenant's table without one.

declare const scoped: unique symbol

export interface Actor {
  readonly kind: 'api_key' | 'operator' | 'person' | 'system'
  readonly id: string
}

export interface Scope {
  readonly org_id: string
  readonly actor: Actor
  readonly [scoped]: true
}

/** The only way to a Scope: called where a caller has been identified, and for the system's own work. */
export function scopeOf(org_id: string, actor: Actor): Scope {
  return { org_id, actor } as Scope
}

/** The actor of a scope as records name it: `kind:id`. */
export function actorText({ actor: { kind, id } }: Scope): string {
  return `${kind}:${id}`
}
