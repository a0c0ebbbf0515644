// What becomes of policies and waivers, in one sentence.
import type { CheckFacts } from '../facts.js'
import { counted, listed } from './words.js'

type Row = readonly [
  count: number,
  noun: readonly [one: string, many: string],
  verb: readonly [one: string, many: string],
]

const policy = ['policy', 'policies'] as const
const waiver = ['waiver', 'waivers'] as const

/** Such as `1 policy becomes stricter and 2 policies are removed.` */
export function changeWords({ diff: { manifests } }: CheckFacts): string {
  const policies = manifests.flatMap((one) => one.policies)
  const waivers = manifests.flatMap((one) => one.waivers)
  const of = (list: readonly { readonly change: string }[], wanted: string) =>
    list.filter(({ change }) => change === wanted).length
  const rows: readonly Row[] = [
    [of(policies, 'removed'), policy, ['is removed', 'are removed']],
    [of(policies, 'looser'), policy, ['becomes looser', 'become looser']],
    [of(waivers, 'looser'), waiver, ['is added or lasts longer', 'are added or last longer']],
    [of(policies, 'changed'), policy, ['changes in a way that may be looser', 'change in a way that may be looser']],
    [of(policies, 'stricter'), policy, ['becomes stricter', 'become stricter']],
    [of(policies, 'added'), policy, ['is added', 'are added']],
    [of(waivers, 'stricter'), waiver, ['ends earlier', 'end earlier']],
  ]
  const found = rows
    .filter(([count]) => count > 0)
    .map(([count, [one, many], verb]) => `${counted(count, one, many)} ${verb[count === 1 ? 0 : 1]}`)
  return found.length === 0 ? 'No policy changes its effect.' : `${listed(found, { max: 9 })}.`
}
