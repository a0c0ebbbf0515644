// The policies that changed in the period: each value, its direction, the commit, and the approver.
import { count, counted, moment, separated } from '../content/figures.js'
import type { PolicyChangeResult, PolicyValues } from '../content/report-data.js'
import { named } from '../controls/sentences.js'
import type { Block } from '../pdf/engine.js'
import { small, smallId } from '../pdf/style.js'
import { type Context, type Described, observedList, type Section } from './section.js'

export const policyChanges: Section = {
  pdf,
  oscal: {
    at: 'policy_changes',
    title: 'Changes of policies',
    sentences: ({ policy_changes: { rows, more } }) => [`${counted(rows.length + more, 'change')} of policies.`],
    list: observedList('rows', ({ policy_changes }) => policy_changes.rows, observed),
  },
}

function pdf({ pen, data, who }: Context): readonly Block[] {
  const { rows, more } = data.policy_changes
  return [
    pen.h1('Changes of policies'),
    pen.prose(
      '“Stricter” means that no step that violated a policy before is allowed now, “looser” the opposite; “changed” is a change for which neither is certain. Values are those that the event in the log holds; long ones are cut, and both versions of a manifest are known by their SHA. Guards hold a new version that takes protection away until a person approves it; an operator can put a version in force without them. The log holds the commit of a version and not its author: “git show” with the commit names the author.',
    ),
    pen.table({
      columns: [
        { title: 'Time (UTC)', width: 1.55 },
        { title: 'What, on which agents', width: 2.9 },
        { title: 'Effect', width: 1 },
        { title: 'Values', width: 3.6 },
        { title: 'Who', width: 2.3 },
      ],
      rows: rows.map((row) => [
        times(pen, row),
        subject(pen, row),
        effect(pen, row),
        values(pen, row),
        causedBy(pen, row, who),
      ]),
      more: { count: more, what: 'changes of policies' },
      empty: 'No policy was changed in this period.',
    }),
  ]
}

type Pen = Context['pen']

function times(pen: Pen, { at, last_at }: PolicyChangeResult): Block {
  const [first, last] = [moment(at), moment(last_at)]
  return pen.text(first === last ? first : `${first} to ${last}`, { style: 'cell' })
}

const happened: Readonly<Record<string, string>> = {
  'assignment.created': 'Manifest assigned',
  'assignment.removed': 'Manifest removed',
  'assignment.resynced': 'Another version of a manifest',
  'assignment.rematerialised': 'Policies of another risk level',
  'policy.created': 'Policy written',
  'policy.updated': 'Policy changed',
  'policy.enabled': 'Policy enabled',
  'policy.disabled': 'Policy disabled',
  'policy.deleted': 'Policy deleted',
  'policy.override_dropped': 'Setting on a policy ended',
}

function subject(pen: Pen, row: PolicyChangeResult): Block {
  const { kind, manifest } = row
  const shas = [manifest?.from_sha, manifest?.to_sha].flatMap((sha) => (sha == null ? [] : [sha.slice(0, 12)]))
  return {
    stack: [
      pen.text(happened[kind] ?? kind, { style: 'cell', bold: true }),
      ...(manifest === null ? [] : [pen.text(manifest.path, { style: 'cell', max: 120 })]),
      ...(shas.length === 0 ? [] : [pen.text([...new Set(shas)].join(' → '), smallId)]),
      pen.text(agentsOf(row), { ...small, max: 60 }),
    ],
  }
}

/** A row must fit on a page. */
const maxAgents = 4
const maxValues = 6
/** Characters of the values of a row together, and of a name. */
const maxCharacters = 300
const maxName = 40

function agentsOf({ agents, more_agents, risk_classification }: PolicyChangeResult): string[] {
  if (agents.length === 0)
    return [risk_classification === null ? 'every agent' : `every agent of risk level ${risk_classification}`]
  const names = agents.slice(0, maxAgents).map(({ agent_name }) => agent_name)
  const others = agents.length - names.length + more_agents
  const parts = separated(names)
  return others === 0 ? parts : [...parts, ` and ${counted(others, 'other')}`]
}

const effectWords = { stricter: 'stricter', looser: 'looser', changed: 'changed', none: 'no effect' } as const

function effect(pen: Pen, { effect: found, recorded }: PolicyChangeResult): Block {
  if (!recorded) return pen.text('not recorded', { style: 'cell' })
  return pen.text(effectWords[found], { style: 'cell', bold: found === 'looser' })
}

function values(pen: Pen, { kind, recorded, policies, more_values }: PolicyChangeResult): Block {
  if (!recorded) return pen.text('The event holds no values.', { style: 'cell' })
  if (policies.length === 0) {
    const whole = kind === 'assignment.created' || kind === 'assignment.removed'
    return pen.text(whole ? 'All policies of the manifest.' : 'No value differs.', { style: 'cell' })
  }
  const lines = policies.flatMap(linesOf)
  const shown = lines.slice(0, maxValues)
  const left = lines.length - shown.length
  const max = Math.floor(maxCharacters / shown.length)
  const rest = [
    ...(left === 0 ? [] : [`${count(left)} more in the attachment.`]),
    ...(more_values === 0 ? [] : [`${counted(more_values, 'value')} not in the event.`]),
  ]
  return {
    stack: [
      ...shown.flatMap(({ name, parts }, index) => [
        ...(name === shown[index - 1]?.name ? [] : [pen.text(name, { style: 'cell', bold: true, max: maxName })]),
        pen.text(parts, { style: 'cell', max, margin: [0, 0, 0, 2] }),
      ]),
      ...rest.map((text) => pen.text(text, small)),
    ],
  }
}

interface Line {
  readonly name: string
  readonly parts: readonly string[]
}

function linesOf({ name, old_name, change, values: own }: PolicyValues): Line[] {
  const renamed = old_name === null ? [] : [{ name, parts: ['renamed from ', old_name] }]
  if (own.length === 0) return renamed.length > 0 ? renamed : [{ name, parts: [change] }]
  const lines = own.map(({ path, what, effect: found }) => {
    return { name, parts: [path.replace(/^params\.(?=.)/, ''), ' ', what, ` (${effectWords[found]})`] }
  })
  return [...renamed, ...lines]
}

function causedBy(pen: Pen, row: PolicyChangeResult, who: Context['who']): Block {
  const { actor, held, approved_by, commit_sha, kind } = row
  const approval = approved_by === null ? ['Held; no approval is recorded'] : ['Held; approved by ', who(approved_by)]
  const isVersion = kind === 'assignment.resynced'
  return {
    stack: [
      pen.text(held ? approval : [isVersion ? 'Put in force by ' : 'By ', who(actor)], { style: 'cell', max: 90 }),
      ...(isVersion && !held ? [pen.text('Not held by a guard', small)] : []),
      ...(commit_sha === null
        ? []
        : [pen.text(['Commit ', commit_sha.slice(0, 12)], smallId), pen.text('Author not known to the log', small)]),
    ],
  }
}

function observed({ kind, at, actor, manifest, effect, policies, agents }: PolicyChangeResult): Described {
  const [only] = policies
  const what = manifest === null ? (only?.name ?? kind) : manifest.path
  const [agent] = agents.length === 1 ? agents : []
  const by = `Changed at ${at} by ${named(actor)} (${kind}): ${effect === 'none' ? 'no effect' : effect}.`
  return {
    title: `Change of policies: ${named(what)}`,
    description: [by],
    ...(agent !== undefined && { agent_id: agent.agent_id }),
  }
}
