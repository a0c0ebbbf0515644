// The organization whose rows a store function reads and writes, and the actor. Every access to a tenant's table needs a scope.

declare const scoped: unique symbol

interface Actor {
  readonly kind: 'api_key' | 'operator' | 'person' | 'system'
  readonly id: string
}

export interface Scope {
  readonly org_id: string
  readonly actor: Actor
  readonly [scoped]: true
}

/** Creates a scope: for an authenticated caller, and for work of the system. */
export function scopeOf(org_id: string, actor: Actor): Scope {
  return { org_id, actor } as Scope
}

/** The actor of a scope as records name it: `kind:id`. */
export function actorText({ actor: { kind, id } }: Scope): string {
  return `${kind}:${id}`
}
