// The steps that caused a violation, as far as the log still has them.
import type { EvidenceStep, Incident, TaskStep } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { api, paths } from '../../paths.js'
import { type Html, link, nothing, piece, text } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { outputOf } from '../tasks/content.js'
import { headOf } from '../tasks/timeline.js'

/** Each is one read. */
const maxShown = 6

/**
 * The steps of the evidence, each with its number, name, time and the beginning of its payload. Policies of the same step name different
 * causes of it: the steps that `others` name belong to the picture.
 */
export async function evidenceOf(visit: Visit, incident: Incident, others: readonly Incident[]): Promise<Html> {
  const { task_id } = incident
  const evidence = causesOf(incident, others)
  if (evidence.length === 0) return nothing
  const shown = evidence.slice(0, maxShown).toSorted((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity))
  const found = await Promise.all(shown.map(({ step }) => stepOf(visit, task_id, step)))
  return view({
    steps: shown.map(({ step, step_name, step_type, named_by }, index) => {
      const logged = found[index] ?? null
      const name = step_name ?? step_type
      const plain = { what: step_name === null ? '' : step_type, at: nothing, verdict: nothing, summary: '' }
      return {
        ...(logged === null ? plain : headOf(logged)),
        number: step ?? '–',
        name: step === null || task_id === null ? text(name) : link(hrefOf(task_id, step), name),
        is_cause: step !== null && step === incident.step,
        returned: logged === null || step === incident.step ? '' : outputOf(logged),
        named_by: named_by === null ? '' : `Named by the other incident: ${named_by}.`,
        note: logged !== null ? '' : step === null ? 'The step itself: it was not recorded.' : 'Not in the log.',
      }
    }),
    more: evidence.length > maxShown ? evidence.length - maxShown : 0,
  })
}

type Cause = EvidenceStep & { readonly named_by: string | null }

/** The steps of the incident first: they are shown if there are many. */
function causesOf({ violation_details: { evidence } }: Incident, others: readonly Incident[]): Cause[] {
  const causes: Cause[] = evidence.map((step) => ({ ...step, named_by: null }))
  for (const { violation_details, policy_name } of others)
    for (const step of violation_details.evidence)
      if (step.step !== null && !causes.some((known) => known.step === step.step))
        causes.push({ ...step, named_by: policy_name })
  return causes
}

/** The step of a task; null for one that is not in the log. */
async function stepOf({ api: { read } }: Visit, task_id: string | null, step: number | null): Promise<TaskStep | null> {
  if (task_id === null || step === null) return null
  const asked = { around: String(step), limit: '1' }
  try {
    const { steps } = await read('task-timeline', api`/api/v1/tasks/${task_id}/steps`, asked)
    return steps.find((one) => one.step === step) ?? null
  } catch (error) {
    // Reports of engines name steps that were never recorded, and retention deletes others.
    if (error instanceof PlatformError && ['NOT_FOUND', 'INVALID'].includes(error.code)) return null
    throw error
  }
}

function hrefOf(task_id: string, step: number): string {
  return `${paths.task(task_id, { around: step })}#step-${step}`
}

const view =
  piece(`<section class="card"><div class="card-header"><h2 class="card-title">Steps that caused it</h2></div>
<ol class="timeline-list">{{#each steps}}<li{{#if is_cause}} class="bad"{{/if}}>
<div class="step-head"><span class="step-number">{{number}}</span><strong>{{name}}</strong> <span class="text-secondary">{{what}}</span> {{verdict}}<span class="push">{{at}}</span></div>
{{#if summary}}<div class="step-summary text-secondary"><bdi>{{summary}}</bdi></div>{{/if}}
{{#if returned}}<div class="step-more text-secondary">returned <bdi>{{returned}}</bdi></div>{{/if}}
{{#if note}}<div class="step-summary text-secondary">{{note}}</div>{{/if}}
{{#if named_by}}<div class="step-summary text-secondary"><bdi>{{named_by}}</bdi></div>{{/if}}</li>
{{/each}}</ol>{{#if more}}<div class="card-footer">{{more}} more in the task.</div>{{/if}}</section>
`)
