// The commit to compare with: the one that the workflow names, else the base of a pull request or merge group.
import { readFileSync } from 'node:fs'
import { type Annotation, quote } from '@svc/engine/parts'
import type { Environment, Inputs } from '../inputs.js'
import type { Repository } from './git.js'

export interface Base {
  readonly commit: string
  /** As a person knows it: the name of a branch or the input. */
  readonly name: string
}

/** A base, or the reason why it is missing; both null when nothing is to be compared. */
export interface BaseReading {
  readonly base: Base | null
  readonly note: Annotation | null
}

interface Wanted {
  /** Names of the same commit, the most exact first. */
  readonly refs: readonly string[]
  readonly name: string
}

/** The base in the clone. A clone without it gives a warning: the findings are worth something without a comparison. */
export function findBase({ base_ref }: Inputs, env: Environment, repository: Repository | null): BaseReading {
  const wanted = base_ref === '' ? baseOfEvent(env) : { refs: [base_ref, `origin/${base_ref}`], name: base_ref }
  if (wanted === null || base_ref === 'none') return { base: null, note: null }
  if (repository === null) return { base: null, note: notCompared(withoutRepository) }
  const found = wanted.refs.map(repository.commitOf).find((commit) => commit !== null) ?? null
  if (found === null) return { base: null, note: notCompared(missing(wanted.name, repository.is_shallow)) }
  const head = repository.commitOf('HEAD')
  // Changes by others on the base since then do not belong to this change.
  const commit = (head && repository.forkPoint(found, head)) ?? found
  return { base: { commit, name: wanted.name }, note: null }
}

const withoutRepository = 'git finds no repository in the workspace: check it out with Git, or set `base-ref` to `none`'

/** A note that nothing was compared. */
export function notCompared(reason: string): Annotation {
  return { severity: 'warning', title: 'The change was not compared', message: reason }
}

function missing(name: string, is_shallow: boolean): string {
  const fetch = 'give `fetch-depth: 0` to the step that checks out'
  if (is_shallow) return `the clone does not hold ${quote(name)}, because it is shallow: ${fetch}`
  return `the clone does not hold ${quote(name)}: correct \`base-ref\`, or ${fetch}`
}

function baseOfEvent(env: Environment): Wanted | null {
  const event = readEvent(env.GITHUB_EVENT_PATH)
  const branch = env.GITHUB_BASE_REF ?? ''
  const [sha, name] = [
    ...(isMap(event.pull_request) && isMap(event.pull_request.base)
      ? [event.pull_request.base.sha, event.pull_request.base.ref]
      : []),
    ...(isMap(event.merge_group) ? [event.merge_group.base_sha, event.merge_group.base_ref] : []),
  ]
  const refs = [
    ...(typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha) ? [sha] : []),
    ...(/^[\p{L}\p{N}_][\p{L}\p{N}_./+@#-]*$/u.test(branch) ? [`refs/remotes/origin/${branch}`] : []),
  ]
  return refs.length === 0 ? null : { refs, name: typeof name === 'string' ? name : branch }
}

type Members = Readonly<Record<string, unknown>>

function isMap(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The event that started the workflow; empty when it cannot be read. */
function readEvent(path: string | undefined): Members {
  try {
    const event: unknown = JSON.parse(readFileSync(path ?? '', 'utf8'))
    return isMap(event) ? event : {}
  } catch {
    return {}
  }
}
