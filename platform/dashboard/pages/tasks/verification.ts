// The check of the record of a task, whose result is shown on the page, and the evidence to verify elsewhere.
import type { TaskTimeline, Verification } from '@svc/schemas'
import { address } from '../../paths.js'
import { counted, countedOrNone, type Html, piece, time } from '../../views/html.js'
import { sentenceOf } from '../../views/page.js'
import { copyable } from '../../views/pieces.js'
import type { Visit } from '../../visit.js'

/** The result of a verification in sentences, each of which is true by itself. */
export function verificationView(checked: Verification): Html {
  const { entries, integrity, sequence, anchoring, payloads } = checked
  const { first_bad } = integrity
  return view({
    ok: integrity.ok,
    heading: integrity.ok ? 'No alteration was found' : 'The record was altered',
    entries: `${counted(entries, 'entry was', 'entries were')} read again: ${integrity.ok ? 'each hash, link and payload matches its record' : 'an entry does not match its record'}.`,
    bad: first_bad === null ? '' : badText(first_bad),
    sequence:
      sequence.summary !== null
        ? sentenceOf(sequence.summary)
        : 'The steps have the numbers that their sender claimed, in order.',
    findings: [...sequence.issues, ...sequence.warnings].map(({ step, message }) => `Step ${step}: ${message}`),
    anchoring: anchored[anchoring],
    payloads: sentenceOf(
      `${countedOrNone(payloads.present, 'payload is', 'payloads are')} kept${payloads.erased === 0 ? '' : `, ${counted(payloads.erased, 'payload was', 'payloads were')} erased`}`,
    ),
  })
}

function badText({ seq, field, message }: NonNullable<Verification['integrity']['first_bad']>): string {
  return `${seq === null ? 'The task' : `Entry ${seq}`}${field === null ? '' : `, ${field}`}: ${message}`
}

const anchored: Readonly<Record<Verification['anchoring'], string>> = {
  whole: 'A signed checkpoint of the log covers all entries.',
  partly: 'A signed checkpoint of the log covers a part of the entries, and not yet the others.',
  none: 'No signed checkpoint of the log covers the task yet.',
}

const view = piece(`<div class="alert mt-3 mb-0 {{#if ok}}alert-success{{else}}alert-danger{{/if}}" role="status"><div>
<h3 class="alert-title">{{heading}}</h3>
{{#if bad}}<p class="mb-1"><strong><bdi>{{bad}}</bdi></strong></p>{{/if}}
<p class="mb-1">{{entries}} {{payloads}} {{anchoring}}</p><p class="mb-1"><bdi>{{sequence}}</bdi></p>
{{#if findings}}<ul class="mb-1">{{#each findings}}<li><bdi>{{this}}</bdi></li>{{/each}}</ul>{{/if}}
<p class="mb-0 small">The platform checked itself here. An auditor verifies the evidence below offline, without this platform.</p></div></div>
`)

export interface Evidence {
  /** The address of the bundle; '' while no checkpoint covers the task. */
  readonly href: string
  readonly command: string
  readonly received: TaskTimeline['received']
  readonly is_whole: boolean
}

/** The bundle that shows a task; null for a person who may not download it. Entries below the log index `signed` are signed. */
export function evidenceOf(
  { api: { may }, person }: Visit,
  { received }: Pick<TaskTimeline, 'received'>,
  signed: number,
): Evidence | null {
  if (!may('get', '/api/v1/log/bundle')) return null
  const to = new Date(Date.parse(received.last) + 1).toISOString()
  return {
    href: signed === 0 ? '' : address('/api/v1/log/bundle', { from: received.first, to }),
    command: `npx --no-install svc verify ${person.org_id}-log.zip --trust trust.policy`,
    received,
    is_whole: received.last_log_index < signed,
  }
}

export function evidenceView({ href, command, received: { first, last }, is_whole }: Evidence): Html {
  return evidence({
    href,
    command: copyable('the command that verifies the evidence', command),
    first: time(first),
    last: isSameSecond(first, last) ? '' : time(last),
    is_whole,
  })
}

const evidence =
  piece(`<hr class="my-3"><div class="bar mb-2"><div class="grow"><h3 class="card-title mb-1">Take the evidence away</h3>
<span class="text-secondary">A bundle is a period of the log: this one holds every entry of the workspace that was received {{#if last}}from {{first}} to {{last}}{{else}}in the
second of {{first}}{{/if}}, the whole task among them.</span></div>{{#if href}}<a class="btn" href="{{href}}" download>Download the evidence</a>{{/if}}</div>
{{#if is_whole}}{{else}}<p class="mb-2">{{#if href}}The newest steps of the task are not signed yet, and the bundle lacks them: download it again in some seconds.{{else}}No checkpoint of the log is signed yet: come back in some seconds.{{/if}}</p>{{/if}}
<p class="mb-1">Verify it offline, with the file <a class="text-link" href="/api/v1/log/trust-policy" download>trust.policy</a>: the page
<a class="text-link" href="/settings/log">Settings, Log</a> says how to compare the fingerprints in it. The command needs a clone of svc after <code>npm ci</code>,
or Node.js and its one file <code>svc-verify.mjs</code>:</p>{{command}}
`)

function isSameSecond(first: string, last: string): boolean {
  return Math.floor(Date.parse(first) / 1000) === Math.floor(Date.parse(last) / 1000)
}
