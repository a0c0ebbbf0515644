// The check of the record of a task, whose result is shown on the page.
import type { Verification } from '@svc/schemas'
import { counted, type Html, piece } from '../../views/html.js'
import { sentenceOf } from '../../views/page.js'

/** The result of a verification in sentences, each of which is true by itself. */
export function verificationView(checked: Verification, bundle: string): Html {
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
    payloads: `${counted(payloads.present, 'payload is', 'payloads are')} kept${payloads.erased === 0 ? '' : `, ${counted(payloads.erased, 'payload was', 'payloads were')} erased`}.`,
    bundle,
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
<p class="mb-0 small">The platform checked itself here. {{#if bundle}}<a class="text-link" href="{{bundle}}">Download the evidence</a> and verify it offline with
<code>npx --no-install svc verify FILE --trust trust.policy</code>. The page <a class="text-link" href="/settings/log">Settings, Log</a> shows the
trust policy and how to compare its key.{{else}}An auditor of the workspace can download the evidence, and verify it offline.{{/if}}</p></div></div>
`)
