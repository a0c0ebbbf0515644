// The waivers in the policy sets of the period. The reason and the approver are in the text of the manifest, whose id the set holds.
import { type PolicyInput, parseManifest } from '@svc/engine'
import { blobSha, waiverEnd } from '@svc/engine/parts'
import type { Manifest } from '@svc/schemas'
import { maxWaivers } from '../../content/bounds.js'
import type { WaiverBegan, WantedWaivers } from '../../content/messages.js'
import type { BoundedRows, WaiverResult } from '../../content/report-data.js'
import { byText, firstOf } from '../listing.js'

interface WaiverTally {
  readonly agent_id: string
  readonly until: number
  /** Of the latest version of its manifest. */
  policy: PolicyInput
  used: number
}

type Written = NonNullable<Manifest['waivers']>[number]
type Facts = (agent_id: string) => { readonly agent_key: string; readonly name: string }

export type Waivers = ReturnType<typeof createWaivers>

/** `from`: the begin of the period. */
export function createWaivers(from: string) {
  const all = new Map<string, WaiverTally>()
  const began = new Map<string, string>()
  const texts = new Map<string, readonly Written[]>()
  return {
    /** A policy of a policy set of the period, and how many of its violations were waived. */
    add: (policy: PolicyInput, used: number) => {
      const { agent_id, waived_until: until } = policy
      if (agent_id === null || until === undefined || (until <= Date.parse(from) && used === 0)) return
      const { name, manifest_repo, manifest_path } = policy
      const key = JSON.stringify([agent_id, manifest_repo, manifest_path, name, until])
      const known = all.get(key)
      const waiver = known ?? { agent_id, until, policy, used: 0 }
      all.set(key, waiver)
      waiver.used += used
      if (policy.id > waiver.policy.id) waiver.policy = policy
    },
    wanted: (): WantedWaivers => {
      const shown = ranked(all).slice(0, maxWaivers)
      const shas = shown.flatMap(({ policy }) => policy.manifest_sha ?? [])
      return { policies: shown.map(({ policy }) => policy.id), texts: [...new Set(shas)] }
    },
    began: (rows: readonly WaiverBegan[]) => {
      for (const { policy_id, began_at } of rows) began.set(String(policy_id), began_at)
    },
    /** The text of a version; one that does not have its id states nothing. */
    text: (sha: string, body: string) => {
      // A byte order mark is not part of the text.
      const isText = [body, `\ufeff${body}`].some((text) => blobSha(Buffer.from(text)) === sha)
      if (isText) texts.set(sha, parseManifest(body, sha).value?.waivers ?? [])
    },
    listing: (facts: Facts): BoundedRows<WaiverResult> => {
      const rows = ranked(all).map(({ agent_id, until, policy, used }): WaiverResult => {
        const { agent_key, name: agent_name } = facts(agent_id)
        const { name: policy_name, manifest_name: name, manifest_repo: repo, manifest_path: path } = policy
        const sha = policy.manifest_sha
        const written = (texts.get(sha ?? '') ?? []).find(
          (one) => one.policy === policy_name && one.agent_key === agent_key && waiverEnd(one.expires) === until,
        )
        return {
          policy_name,
          agent_id,
          agent_name,
          manifest: { name, repo, path, sha },
          from: began.get(String(policy.id)) ?? null,
          until: new Date(until).toISOString(),
          used,
          reason: written?.reason ?? null,
          approved_by: written?.approved_by ?? null,
        }
      })
      return firstOf(rows, maxWaivers)
    },
  }
}

/** The most used first. */
function ranked(all: ReadonlyMap<string, WaiverTally>): WaiverTally[] {
  return [...all]
    .sort(([a, one], [b, other]) => other.used - one.used || byText(one.policy.name, other.policy.name) || byText(a, b))
    .map(([, waiver]) => waiver)
}
