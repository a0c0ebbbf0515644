import { counted, sentence, separated } from '../content/figures.js'
import type { PolicyResult } from '../content/report-data.js'
import { named } from '../controls/sentences.js'
import type { Block } from '../pdf/engine.js'
import { small } from '../pdf/style.js'
import { type Context, type Described, observedList, type Section } from './section.js'

export const policies: Section = {
  pdf,
  oscal: {
    at: 'policies',
    title: 'Policies',
    sentences: ({ summary }) => [`${counted(summary.violations, 'violation')} of policies.`],
    list: observedList('rows', ({ policies }) => policies.rows, observed),
  },
}

function pdf({ pen, data }: Context): readonly Block[] {
  return [
    pen.h1('Results per policy'),
    pen.prose(
      'One row for each policy of each version of its manifest. “Steps” are the steps that were evaluated while the policy was in effect on their agent, and “applied” those of them in its target; a policy that evaluates registrations of agents has none. A policy in observe mode reports violations and blocks nothing. “Declared” are decisions of local engines that found the policy violated, and whose steps were never recorded: the log shows the declaration and no step. The appendix lists the manifests with the full SHA of each file.',
    ),
    pen.table({
      columns: [
        { title: 'Policy and manifest', width: 4.3 },
        { title: 'Severity, mode', width: 1.35 },
        { title: 'Agents', width: 0.9, align: 'right' },
        { title: 'Steps', width: 1.1, align: 'right' },
        { title: 'Applied', width: 1.1, align: 'right' },
        { title: 'Violations', width: 1.25, align: 'right' },
        { title: 'Waived', width: 1.05, align: 'right' },
        { title: 'Declared', width: 1.1, align: 'right' },
        { title: 'Incidents', width: 1.2, align: 'right' },
      ],
      rows: data.policies.rows.map((policy) => [
        described(pen, policy),
        `${policy.severity}, ${policy.mode === 'enforce' ? 'enforced' : 'observed'}`,
        policy.agents,
        ...(policy.scope === 'agent_registration'
          ? [null, null, null, null]
          : [policy.steps, policy.applied, policy.violations, policy.waived]),
        policy.unrecorded,
        policy.incidents,
      ]),
      more: { count: data.policies.more, what: 'policies' },
      empty: 'No policy was in effect in this period.',
    }),
  ]
}

function described(pen: Context['pen'], { name, rule_type, scope, controls, manifest }: PolicyResult): Block {
  return {
    stack: [
      pen.text(name, { style: 'cell', bold: true, max: 160 }),
      pen.text([rule_type, ' · ', scope, ...controls.flatMap((tag, index) => [index === 0 ? ' · ' : ', ', tag])], {
        ...small,
        max: 60,
      }),
      pen.text(sourceOf(manifest), { ...small, max: 120 }),
    ],
    lineHeight: 1.2,
  }
}

function sourceOf(manifest: PolicyResult['manifest']): readonly string[] {
  if (manifest === null) return ['Set on the platform, without a manifest']
  const { name, path, sha } = manifest
  const parts = [name, path, sha?.slice(0, 10) ?? null].filter((part) => part !== null)
  return separated(parts, ' · ')
}

function observed({ name, rule_type, mode, steps, applied, agents, violations, unrecorded }: PolicyResult): Described {
  const effect = mode === 'enforce' ? 'enforced' : 'observed only'
  const evaluated = `${sentence(counted(steps, 'step'))} of ${counted(agents, 'agent')} evaluated, of which it applied to ${applied}: ${counted(violations, 'violation')}.`
  const declared =
    unrecorded === 0
      ? ''
      : ` Declared by local engines: ${counted(unrecorded, 'violation')} by steps that were never recorded.`
  const text = `Rule ${named(rule_type)}, ${effect}. ${evaluated}${declared}`
  return { title: `Policy ${named(name)}`, description: [text] }
}
