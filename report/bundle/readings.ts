// The readings of a report as the lines of report.jsonl and back: entries by their log indexes, and statements of the platform.
import { type BundledReading, isMap } from '@svc/proof'
import type { EngineStateRow, GateRow, ReportMessage, ReportWork } from '../content/messages.js'
import { type PageClaims, pageClaims, pageOf } from './page.js'
import { leafLine, type ReportSource } from './source.js'

type Kind = Exclude<ReportMessage['kind'], 'data' | 'render'>
type MessageOf<K> = Extract<ReportMessage, { readonly kind: K }>
type Claims = BundledReading['claims']

/** The writer and the reader of the messages of a kind. */
interface Form<K extends Kind> {
  readonly leaves?: (message: MessageOf<K>) => readonly number[]
  /** Without it, the members of the message. */
  readonly claims?: (message: MessageOf<K>) => Claims
  /** Without it, the claims are the members of the message. */
  readonly members?: (reading: BundledReading, source: ReportSource) => Promise<object> | object
}

/** Leaves of the log alone. */
const ofLeaves = {
  leaves: ({ leaves }: { readonly leaves: readonly string[] }) => leaves.map(indexOf),
  claims: () => ({}),
  members: ({ leaves }: BundledReading, source: ReportSource) => ({ leaves: linesOf(leaves, source) }),
}

/** Leaves of incidents, and rows for those whose leaf was erased or deleted. */
const ofIncidents = {
  ...ofLeaves,
  claims: ({ rows }: MessageOf<'incidents' | 'listed'>) => ({ rows }),
  members: ({ leaves, claims }: BundledReading, source: ReportSource) => {
    return { ...claims, leaves: linesOf(leaves, source) }
  },
}

const forms: { readonly [K in Kind]: Form<K> } = {
  facts: ofLeaves,
  removals: ofLeaves,
  incidents: ofIncidents,
  listed: ofIncidents,
  neighbours: { claims: () => ({}), members: (_, { neighbours }) => neighbours },
  entries: {
    claims: ({ page }) => ({ ...pageClaims(page) }),
    members: async ({ claims }, source) => {
      const page = claims as unknown as PageClaims
      return { page: pageOf(page, await source.entries(page.from, page.to)) }
    },
  },
  policy_sets: {
    claims: ({ bodies }) => ({ digests: bodies.map(({ digest }) => digest) }),
    members: ({ claims }, { policySet }) => {
      const digests = claims.digests as readonly string[]
      return { bodies: digests.map((digest) => ({ digest, body: policySet(digest) })) }
    },
  },
  gates: {
    leaves: ({ gates }) => gates.map(({ log_index }) => log_index),
    claims: ({ gates }) => ({ gates: gates.map(({ task_id, step }) => ({ task_id, step })) }),
    members: ({ leaves, claims }, { leaf }) => {
      const gates = claims.gates as readonly Pick<GateRow, 'task_id' | 'step'>[]
      return { gates: gates.map((gate, at) => ({ ...leaf(leaves[at] ?? -1), ...gate })) }
    },
  },
  engine_states: {
    leaves: ({ rows }) => rows.flatMap(({ line, log_index }) => (line === null ? [] : log_index)),
    claims: ({ rows, lost }) => ({ rows: rows.map(({ line: _, ...row }) => row), lost }),
    members: ({ leaves, claims }, source) => {
      const [rows, recorded] = [claims.rows as readonly EngineStateRow[], new Set(leaves)]
      const lineOf = ({ log_index }: EngineStateRow) => (recorded.has(log_index) ? lineAt(log_index, source) : null)
      return { ...claims, rows: rows.map((row) => ({ ...row, line: lineOf(row) })) }
    },
  },
  agents: {},
  earlier: {},
  policies: {},
  waivers: {},
  manifest: {},
  tiles: {},
  unfound: {},
  governance: {},
  tables: {},
  wanted: {},
  wanted_for_lists: {},
  wanted_people: {},
}

/** The reading of a message of the platform to the tally. */
export function readingOf(message: Exclude<ReportMessage, { kind: 'data' | 'render' }>): BundledReading {
  const { leaves, claims } = forms[message.kind] as Form<Kind>
  const { kind, ...members } = message
  return { kind, leaves: leaves?.(message) ?? [], claims: claims?.(message) ?? members }
}

/** The message that was read so. Rejects for what no platform of this version writes. */
export async function messageOf(
  reading: BundledReading,
  source: ReportSource,
): Promise<Exclude<ReportMessage, { kind: 'data' | 'render' }>> {
  const { kind, claims } = reading
  if (!Object.hasOwn(forms, kind)) throw new TypeError(`the kind \`${kind}\` is unknown`)
  const { members } = forms[kind as Kind] as Form<Kind>
  return { kind, ...((await members?.(reading, source)) ?? claims) } as MessageOf<Kind>
}

/** The facts that decide a report besides its leaf and the bundle. */
export type WorkClaims = Pick<ReportWork, 'checkpoint' | 'left' | 'right' | 'own_tasks'> &
  Pick<ReportWork['head'], 'log_began'>

const work = 'work'

/** The first line: `log_index` is that of the leaf of the report. */
export function readingOfWork({ head, checkpoint, left, right, own_tasks }: ReportWork, log_index: number) {
  const claims: WorkClaims = { checkpoint, left, right, own_tasks, log_began: head.log_began }
  return { kind: work, leaves: [log_index], claims: { ...claims } }
}

/** The log index of the leaf of the report and what the first line states of it; null for another line. */
export function workIn({ kind, leaves, claims }: BundledReading): (WorkClaims & { readonly log_index: number }) | null {
  const isWork = kind === work && leaves.length === 1 && isMap(claims.checkpoint)
  return isWork ? { ...(claims as unknown as WorkClaims), log_index: leaves[0] as number } : null
}

/** The log index of a `LeafRow`. */
function indexOf(line: string): number {
  return Number(/^\[\s*(\d+)/.exec(line)?.[1])
}

function linesOf(indexes: readonly number[], source: ReportSource): string[] {
  return indexes.map((index) => lineAt(index, source))
}

function lineAt(index: number, { leaf }: ReportSource): string {
  return leafLine(leaf(index))
}
