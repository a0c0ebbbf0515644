// Places for work that waits for others, such as hosts of tenants: counted for each workspace, and given in turn, so that no
// workspace starves the rest of this process.

export interface Places {
  /** A place for a workspace, to give back; null when this process or the workspace has none left. */
  readonly enter: (owner: string) => (() => void) | null
  readonly free: () => number
  /** The workspaces that have a place or had one lately, for the choice of the next. */
  readonly owners: () => readonly Owner[]
}

export interface Owner {
  readonly owner: string
  readonly taken: number
  /** The turn in which it got its last place. */
  readonly turn: number
}

/** Workspaces whose last turn is remembered; beyond, the longest ago is forgotten, and is before the others again. */
const maxRemembered = 1000

/** `total` places, of which a workspace gets at most `each`. */
export function createPlaces(total: number, each: number): Places {
  const taken = new Map<string, number>()
  const last = new Map<string, number>()
  let all = 0
  let turn = 0
  const remember = (owner: string) => {
    turn += 1
    last.delete(owner)
    last.set(owner, turn)
    const [oldest = owner] = last.keys()
    if (last.size > maxRemembered) last.delete(oldest)
  }
  const leaving = (owner: string) => () => {
    all -= 1
    const own = (taken.get(owner) ?? 1) - 1
    if (own === 0) taken.delete(owner)
    else taken.set(owner, own)
  }
  return {
    free: () => total - all,
    enter: (owner) => {
      const own = taken.get(owner) ?? 0
      if (all >= total || own >= each) return null
      all += 1
      taken.set(owner, own + 1)
      remember(owner)
      return leaving(owner)
    },
    owners: () => {
      const known = new Set([...taken.keys(), ...last.keys()])
      return [...known].map((owner) => ({ owner, taken: taken.get(owner) ?? 0, turn: last.get(owner) ?? 0 }))
    },
  }
}
