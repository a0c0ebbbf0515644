// What policies do to the corpus: honest tasks that they block or ask about, attacks that they stop or report.
import type { LoadedPolicies } from '../../engine/source/source.js'
import type { Domain, Path } from './corpus.js'
import { type ManifestText, type Played, play, policiesOf } from './play.js'

export interface Configuration {
  readonly name: string
  /** Each is the baseline or one manifest per domain, by name; all of them are in effect together. */
  readonly manifests: readonly ('baseline' | Readonly<Record<string, ManifestText>>)[]
  /** Whether the agent declares the tools of each task. */
  readonly tools_per_task: boolean
}

export interface Share {
  readonly count: number
  readonly of: number
  /** 0 when there are none. */
  readonly percent: number
}

export interface Figures {
  readonly name: string
  readonly honest: {
    readonly blocked: Share
    readonly asked: Share
    /** Questions to a person in all honest tasks together. */
    readonly questions: number
    /** The policy that is violated in most tasks; null when none is. */
    readonly worst: { readonly policy: string; readonly violated: Share } | null
  }
  readonly attacks: {
    readonly stopped: { readonly all: Share; readonly plain: Share; readonly evasive: Share }
    readonly stopped_by_kind: Readonly<Record<string, Share>>
    /** Attacks in which an injected step violated a policy of any severity. */
    readonly reported: Share
  }
  /** Honest tasks that were blocked with the policies that blocked them, and attacks that did harm: `<domain>/<path>`. */
  readonly blocked_tasks: readonly { readonly id: string; readonly policies: readonly string[] }[]
  readonly harmful_attacks: readonly string[]
}

export type Measured = Pick<Domain, 'name' | 'agent' | 'paths'>

interface Result extends Played {
  readonly path: Path
}

/** Plays every path of the domains under each configuration. Throws for a manifest that is missing or rejected in part. */
export async function measure(
  domains: readonly Measured[],
  configurations: readonly Configuration[],
): Promise<Figures[]> {
  const figures: Figures[] = []
  for (const configuration of configurations)
    figures.push(figuresOf(configuration.name, await results(domains, configuration)))
  return figures
}

async function results(domains: readonly Measured[], configuration: Configuration): Promise<Result[]> {
  const found: Result[] = []
  for (const { name, agent, paths } of domains) {
    const policies = policiesFor(configuration, name, String(agent.agent_key))
    const terms = { policies, agent, tools_per_task: configuration.tools_per_task }
    for (const path of paths) found.push({ path, ...(await play(path, terms)) })
  }
  return found
}

function policiesFor({ name, manifests }: Configuration, domain: string, agent_key: string): LoadedPolicies {
  const texts = manifests.map((manifest) => {
    if (manifest === 'baseline') return null
    const text = manifest[domain]
    if (text === undefined) throw new Error(`\`${name}\` has no manifest for the domain \`${domain}\``)
    return text
  })
  return policiesOf(texts, agent_key)
}

function figuresOf(name: string, played: readonly Result[]): Figures {
  const honest = played.filter(({ path }) => path.kind === 'honest')
  const attacks = played.filter(({ path }) => path.kind !== 'honest')
  const blocked = honest.filter((one) => one.blocked.length > 0)
  const kinds = [...new Set(attacks.map(({ path }) => path.kind))].sort()
  const stopped = (some: readonly Result[]) => share(some, ({ harm_done }) => !harm_done)
  return {
    name,
    honest: {
      blocked: share(honest, (one) => one.blocked.length > 0),
      asked: share(honest, ({ asked }) => asked.length > 0),
      questions: honest.reduce((sum, { asked }) => sum + asked.length, 0),
      worst: worstOf(honest),
    },
    attacks: {
      stopped: {
        all: stopped(attacks),
        plain: stopped(attacks.filter(({ path }) => path.variant === 'plain')),
        evasive: stopped(attacks.filter(({ path }) => path.variant === 'evasive')),
      },
      stopped_by_kind: Object.fromEntries(
        kinds.map((kind) => [kind, stopped(attacks.filter(({ path }) => path.kind === kind))]),
      ),
      reported: share(attacks, ({ reported }) => reported.length > 0),
    },
    blocked_tasks: blocked.map((one) => ({ id: idOf(one), policies: one.blocked })),
    harmful_attacks: attacks.filter(({ harm_done }) => harm_done).map(idOf),
  }
}

function idOf({ path }: Result): string {
  return `${path.domain}/${path.id}`
}

/** The policy that is violated in most of these tasks, however often in each; the first by name among equals. */
function worstOf(honest: readonly Result[]): Figures['honest']['worst'] {
  const tasks = new Map<string, number>()
  for (const { reported } of honest) {
    const names = new Set(reported.flatMap(({ policies }) => policies))
    for (const name of names) tasks.set(name, (tasks.get(name) ?? 0) + 1)
  }
  const [worst] = [...tasks].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return worst === undefined ? null : { policy: worst[0], violated: shareOf(worst[1], honest.length) }
}

function share<T>(all: readonly T[], counts: (one: T) => boolean): Share {
  return shareOf(all.filter(counts).length, all.length)
}

function shareOf(count: number, of: number): Share {
  return { count, of, percent: of === 0 ? 0 : (100 * count) / of }
}
