// Which step a gate approves, and which gate approved a step: reports of the program of the agent, which the platform does not verify.
import type { StepApproval, TaskStep } from '@svc/schemas'
import { counted, type Html, joined, link, nothing, number, piece, text, time } from '../../views/html.js'
import { contentOf } from './content.js'

/** The address of a step of the task. */
type HrefOf = (step: number) => string

/** The line of a step; null for one that neither approves nor is approved. */
export function approvalOf(approval: StepApproval | undefined, hrefOf: HrefOf): Html | null {
  if (approval === undefined) return null
  const { gate, approved_by } = approval
  if (gate !== null) return gate.passed ? ofGate(gate, hrefOf) : null
  if (approved_by.length === 0) return null
  const gates = approved_by.map(({ step, by, timestamp }) =>
    joined(
      [
        link(hrefOf(step), `step ${step}`),
        ...(by === null ? [] : [text('by'), text(by)]),
        ...(timestamp === null ? [] : [text('·'), time(timestamp)]),
      ],
      ' ',
    ),
  )
  return line({ content: joined([text('Approved at'), joined(gates, ', ')]), note: reported })
}

const reported = 'reported by the agent'

function ofGate({ action_digest, approves, is_complete, by }: NonNullable<StepApproval['gate']>, hrefOf: HrefOf): Html {
  if (approves.length > 0) {
    const steps = approves.map(({ step, name }) => link(hrefOf(step), `step ${step} (${name})`))
    const who = by === null ? [] : [text('by'), text(by)]
    return line({ content: joined([text('Approves'), joined(steps, ', '), ...who]), note: reported })
  }
  if (action_digest === null)
    return line({ content: text('It is not tied to one step: it carries no digest of an action.'), note: '' })
  return line({
    content: text(
      is_complete
        ? 'No later step of the task is exactly the action that it names. A step that differs in a field is not compared.'
        : 'No step that was compared used this approval. Others are erased, or come long after it.',
    ),
    note: '',
  })
}

const line = piece('{{content}}{{#if note}} <span class="text-secondary">({{note}})</span>{{/if}}')

/** The first approvals and checks of a task, for its summary; nothing without one. `all` leads to the others. */
export function approvalSummary(gates: readonly TaskStep[], total: number, hrefOf: HrefOf, all: string): Html {
  if (gates.length === 0) return nothing
  return summary({
    heading: counted(total, 'approval or check', 'approvals and checks'),
    gates: gates.map((gate) => ({
      step: link(hrefOf(gate.step), `Step ${gate.step}: ${gate.step_name ?? gate.step_type}`),
      what: gate.approval?.gate?.passed === false ? 'has not passed' : '',
      at: time(gate.timestamp),
      summary: gate.is_erased ? '' : contentOf(gate).summary,
      approval: approvalOf(gate.approval, hrefOf),
    })),
    more: total > gates.length ? link(all, `All ${number(total)}`) : nothing,
  })
}

const summary = piece(`<section class="card"><div class="card-body"><h2 class="h3 mb-1">{{heading}}</h2>
<p class="text-secondary mb-2">They are steps that the program of the agent reports. The platform does not verify who answered.</p>
<ul class="mb-0">{{#each gates}}<li>{{step}}{{#if what}} {{what}}{{/if}} · {{at}}{{#if summary}}<div class="text-secondary"><bdi>{{summary}}</bdi></div>{{/if}}{{#if approval}}<div>{{approval}}</div>{{/if}}</li>{{/each}}</ul>{{more}}</div></section>
`)
