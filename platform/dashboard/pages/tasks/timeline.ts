// The steps of a task, one under the other: what each did, what policies said of it, and its place in the chain.
import type { LoggedViolation, TaskStep } from '@svc/schemas'
import { address, api, paths } from '../../paths.js'
import {
  badge,
  type Html,
  hash,
  joined,
  json,
  link,
  nothing,
  piece,
  severity,
  type Tone,
  text,
  time,
} from '../../views/html.js'
import { reasonText, violatedText } from '../../views/violation.js'
import { approvalOf } from './approvals.js'
import { contentOf } from './content.js'

/** How much of each step is shown. */
export const views = ['compact', 'full', 'json'] as const
export type View = (typeof views)[number]

export interface Shape {
  readonly view: View
  /** The number or the id of the step that a link led to. */
  readonly marked: string | undefined
  /** Entries with a lower log index are in a signed tree. */
  readonly signed: number
  /** The address of a step of the task. */
  readonly hrefOf: (step: number) => string
  /** The address of the evidence of the task; '' without one. */
  readonly evidence: string
}

/** The steps as a list. */
export function timeline(steps: readonly TaskStep[], shape: Shape): Html {
  return list({
    steps: steps.map((step) => ({
      ...headOf(step),
      marked: isMarked(step, shape),
      is_violating: step.violations.length > 0,
      approval: approvalOf(step.approval, shape.hrefOf),
      evidence: shape.evidence,
      violations: step.violations.map((violation) => violationOf(violation, shape)),
      body: bodyOf(step, shape),
    })),
  })
}

const list = piece(`<ol class="timeline-list">
{{#each steps}}<li id="step-{{number}}" class="{{#if is_violating}}bad{{/if}}{{#if marked}} marked{{/if}}">
<div class="step-head"><span class="step-number">{{number}}</span><strong>{{name}}</strong> <span class="text-secondary">{{what}}</span> {{verdict}}<span class="push">{{at}}</span></div>
{{#if summary}}<div class="step-summary text-secondary"><bdi>{{summary}}</bdi></div>{{/if}}
{{#if approval}}<div class="step-more">{{approval}}{{#if evidence}} · <a class="text-link" href="{{evidence}}" download>Evidence</a>{{/if}}</div>{{/if}}
{{#each violations}}<div class="step-violation"><div>{{severity}} {{policy}} {{mode}}</div>
<p class="lines mb-1">{{reason}}</p>{{#if remedy}}<p class="lines mb-1"><strong>What would make it right:</strong> {{remedy}}</p>{{/if}}
<div class="small">{{#if evidence}}Because of {{evidence}}. {{/if}}{{incident}}</div></div>
{{/each}}{{body}}</li>
{{/each}}</ol>
`)

/** The first line of a step. */
export function headOf(step: TaskStep) {
  const { what, summary } = contentOf(step)
  return {
    number: step.step,
    name: text(step.step_name ?? step.step_type),
    what: text(what),
    at: time(step.timestamp),
    verdict: verdictOf(step),
    summary: step.is_erased ? 'Its payload was erased; its hash stays in the chain.' : summary,
  }
}

function isMarked({ step, log_id }: TaskStep, { marked }: Shape): boolean {
  return marked === String(step) || marked === log_id
}

/** What policies said of the step, and whether it ran. */
export function verdictOf({ outcome, effect, violations }: TaskStep): Html {
  if (violations.length === 0) return nothing
  const [label, tone] = verdictText(outcome, effect)
  return badge(label, tone)
}

function verdictText(outcome: TaskStep['outcome'], effect: TaskStep['effect']): readonly [string, Tone] {
  if (outcome === 'allow' || outcome === 'warn') return ['violates a policy that does not block', 'yellow']
  if (effect === 'blocked') return ['stopped before it ran', 'green']
  const isAsked = outcome === 'ask'
  if (effect === 'executed')
    return [isAsked ? 'ran without the approval that it needs' : 'ran, although a policy forbids it', 'red']
  return [isAsked ? 'needs an approval' : 'a policy forbids it', 'orange']
}

function violationOf(violation: LoggedViolation, { hrefOf }: Shape) {
  const { policy_id, name, mode, waived, violation_details, incident_id } = violation
  const { reason, remedy, evidence } = violation_details
  const earlier = evidence
    .filter(({ step }) => step !== null)
    .map(({ step, step_name, step_type }) => link(hrefOf(step ?? 0), `step ${step} (${step_name ?? step_type})`))
  return {
    severity: severity(violation.severity),
    policy: link(paths.policy(policy_id), violatedText(name)),
    mode: waived ? badge('waived') : mode === 'observe' ? badge('observed only') : nothing,
    reason: reasonText(reason),
    remedy: remedy === null ? '' : reasonText(remedy),
    evidence: earlier.length === 0 ? '' : joined(earlier, ', '),
    incident:
      incident_id === null
        ? text('No incident counts it.')
        : link(paths.incident(incident_id), `Its incident: ${name}`),
  }
}

const payloads = ['input', 'output', 'properties', 'meta'] as const

function bodyOf(step: TaskStep, shape: Shape): Html {
  const { view, signed, hrefOf } = shape
  // Closed payloads of a hundred steps would be most of the page.
  if (view === 'compact' && !isMarked(step, shape)) return unopened({ href: hrefOf(step.step), step: step.step })
  if (view === 'json') return json(step)
  const shown = payloads.flatMap((name) => (step[name] === null ? [] : [{ name, value: json(step[name]) }]))
  const { seq, log_id, log_index, prev_hash, client_prev_hash, received_at } = step
  return body({
    payloads: shown,
    open: view === 'full' || isMarked(step, shape),
    seq,
    hash: hash(step.hash, 20),
    previous: prev_hash === '' ? text('none: the first entry') : hash(prev_hash, 20),
    claimed: client_prev_hash !== null && client_prev_hash !== prev_hash ? hash(client_prev_hash, 20) : '',
    log_id: hash(log_id, 40),
    log_index,
    received: time(received_at),
    proof: log_index < signed ? address('/api/v1/log/proof/inclusion', { log_id }) : '',
    entry: api`/api/v1/logs/${log_id}`,
  })
}

const unopened = piece(
  `<a class="small text-secondary opens" href="{{href}}" hx-get="{{href}}" hx-select="#step-{{step}}" hx-target="#step-{{step}}" hx-swap="outerHTML">Payload and record</a>`,
)

const body = piece(`<details{{#if open}} open{{/if}}><summary>Payload and record</summary>
{{#each payloads}}<div class="small text-secondary">{{name}}</div>{{value}}{{/each}}
<dl class="facts small"><dt>Entry</dt><dd>{{log_id}}, number {{seq}} of the task, log index {{log_index}}</dd>
<dt>Hash</dt><dd>{{hash}}</dd><dt>Previous hash</dt><dd>{{previous}}</dd>
{{#if claimed}}<dt>The sender claimed</dt><dd>{{claimed}}</dd>{{/if}}
<dt>Received</dt><dd>{{received}}</dd><dt>Evidence</dt><dd>{{#if proof}}<a href="{{proof}}">proof of inclusion</a>{{else}}not yet in a signed checkpoint{{/if}} · <a href="{{entry}}">record with salts</a></dd></dl></details>
`)
