// Settings, Log: the signed checkpoint, the keys to hand to an auditor, and the evidence of a period.
import { fingerprintOf, parseVerifier, trustPolicyLines } from '@svc/proof'
import type { LogCheckpoint, LogKey } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import type { DashboardPage } from '../../page.js'
import { address, paths } from '../../paths.js'
import { badge, hash, id, link, nothing, number, piece, text, time } from '../../views/html.js'
import { card, copyable, facts, table } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { settings } from './settings.js'

async function show(visit: Visit): Promise<Shown> {
  const checkpoint = await checkpointOf(visit)
  if (checkpoint === null) return settings(visit, 'log', card('Checkpoint', unsigned({})))
  return settings(
    visit,
    'log',
    columns({
      checkpoint: card('Checkpoint', signed(checkpoint)),
      bundle: visit.api.may('get', '/api/v1/log/bundle') ? card('Evidence', bundle(visit)) : nothing,
    }),
    card('Keys for an auditor', keys(visit, checkpoint)),
  )
}

/** Null before the first one is published. */
export async function checkpointOf({ api }: Visit): Promise<LogCheckpoint | null> {
  try {
    return await api.read('log-checkpoint', '/api/v1/log/checkpoint')
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'NOT_FOUND') return null
    throw error
  }
}

const unsigned =
  piece(`<p class="mb-0">No checkpoint is published yet. The platform signs one a few seconds after the first entry. If none appears, the operator
has turned checkpoints off (<code>SVC_CHECKPOINT_SECONDS=0</code>).</p>`)
const columns = piece(
  '<div class="row"><div class="col-lg-6">{{checkpoint}}</div><div class="col-lg-6">{{bundle}}</div></div>',
)

function signed({ origin, size, root, published_at, note }: LogCheckpoint) {
  return checkpointView({
    facts: facts([
      ['Log', id(origin)],
      ['Entries', text(number(size))],
      ['Root', hash(root, 24)],
      ['Signed', time(published_at)],
      ['History', link(paths.events({ kind: 'log.' }), 'events of the log')],
    ]),
    note: copyable('the signed checkpoint', note),
  })
}

const checkpointView =
  piece(`<p>A checkpoint is the signed size and root of the log. Keep one: a later bundle proves against it that the log has only grown.</p>{{facts}}
<details class="mt-2"><summary>Signed note</summary>{{note}}</details>`)

function bundle({ csrf, form }: Visit) {
  return bundleView({ csrf, from: field(form, 'from'), to: field(form, 'to') })
}

const bundleView =
  piece(`<p>A bundle holds the entries of a period with their proofs. An auditor verifies it offline, without this platform.</p>
<form method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="row g-2 mb-2"><div class="col-sm-6">
<label class="form-label" for="from">First day (UTC)</label><input class="form-control" id="from" name="from" type="date" value="{{from}}"></div>
<div class="col-sm-6"><label class="form-label" for="to">Last day (UTC)</label><input class="form-control" id="to" name="to" type="date" value="{{to}}"></div></div>
<p class="form-hint">Empty: from the beginning of the log, to its last signed entry.</p>
<button class="btn btn-primary" name="act" value="bundle">Download the bundle</button></form>`)

function keys({ url }: Visit, checkpoint: LogCheckpoint) {
  const { keys: all, key } = checkpoint
  const list = table<LogKey>(
    'Keys of the log',
    [
      { head: 'Fingerprint', cell: ({ fingerprint }) => id(fingerprint) },
      { head: 'State', cell: stateOf },
      { head: 'Signs from', cell: ({ from }) => (from === null ? text('the beginning') : time(from)) },
      { head: 'Until', cell: ({ until }) => (until === null ? text('now') : time(until)) },
    ],
    all,
    '',
  )
  const commands = [
    `npx --no-install svc login --url ${url}`,
    'npx --no-install svc checkpoint > trust.policy',
    'npx --no-install svc bundle --out bundle.zip',
    'npx --no-install svc verify bundle.zip --trust trust.policy',
  ]
  const current = parseVerifier(key)
  return keysView({
    fingerprint: current === null ? nothing : id(fingerprintOf(current)),
    list,
    policy: copyable('the trust policy', `${trustPolicyLines(checkpoint).join('\n')}\n`),
    commands: copyable('the commands of an auditor', commands.join('\n')),
  })
}

function stateOf({ stolen, until }: LogKey) {
  if (stolen) return badge('declared stolen', 'red')
  return until === null ? badge('signs now', 'green') : badge('retired')
}

const keysView =
  piece(`<p>An auditor accepts the log by its keys, which they write into a trust policy. <strong>Give them the fingerprint of the current key over a
channel that this platform does not control</strong>, such as by phone or in a contract: a forged platform would show forged keys here.</p>
<p>Current fingerprint: {{fingerprint}}</p>
{{list}}
<div class="bar mt-3 mb-1"><h3 class="h4 grow mb-0">Trust policy</h3><a class="btn btn-sm" href="/api/v1/log/trust-policy" download>Download trust.policy</a></div>
<p>Send this file to the auditor, and read the fingerprint to them over the other channel. They delete each line whose fingerprint they cannot confirm;
<code>svc verify --trust trust.policy</code> and <code>svc report --trust trust.policy</code> accept the rest.</p>{{policy}}
<h3 class="h4 mt-3">Commands for the auditor</h3><p>Invite them as an auditor first. The first command of the auditor opens a page of this dashboard; the last one contacts no platform.</p>{{commands}}`)

/** Days become the times that the API takes: the last day is included. */
const downloadBundle: Act = async (_visit, form) => {
  const [from, to] = [field(form, 'from'), field(form, 'to')]
  if ([from, to].some((day) => day !== '' && Number.isNaN(Date.parse(day))))
    throw new PlatformError('INVALID', 'a day of the period is not valid: write it as 2026-01-31')
  if (from !== '' && to !== '' && from > to)
    throw new PlatformError('INVALID', 'the last day is before the first day: choose a later one')
  const end = to === '' ? '' : new Date(Date.parse(to) + 86_400_000).toISOString()
  return address('/api/v1/log/bundle', { from: from === '' ? '' : `${from}T00:00:00Z`, to: end })
}

export const logPage: DashboardPage = { path: '/settings/log', show, acts: { bundle: downloadBundle } }
