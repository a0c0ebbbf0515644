// A task of the local engine.
import type { Behavior, JsonMap, Step } from '@svc/schemas'
import type { PastSteps } from '../../task/past-steps.js'
import { Task } from '../../task/task.js'
import type { LocalEvaluation } from '../decisions/local-evaluation.js'
import type { AppliedPolicies } from './task-policies.js'

export class LocalTask extends Task<LocalEvaluation> {
  readonly task_id: string
  /** The policies that apply to it. */
  policies: AppliedPolicies
  /** The agent of the latest step that names one. */
  agent_id: string | null = null
  /** The agent as the last evaluation of this task saw it. */
  facts: JsonMap = {}
  /** The tools of the task as the trace has them. */
  written_tools: LocalTask['tools'] = null

  constructor(task_id: string, policies: AppliedPolicies) {
    super(policies.set)
    this.task_id = task_id
    this.policies = policies
  }

  override add(step: Step, at?: number): void {
    super.add(step, at)
    this.agent_id = step.agent_id ?? this.agent_id
  }

  override resume(past: PastSteps, last_step: number): void {
    super.resume(past, last_step)
    this.agent_id = past.steps.findLast(({ step }) => step.agent_id !== undefined)?.step.agent_id ?? null
    this.written_tools = this.tools
  }

  /** The task.end that a task with recorded steps lacks, for receivers that know steps only. */
  endOf(): { readonly step?: number; readonly agent_id?: string } {
    const step = this.missing_end
    if (step === null) return {}
    return { step, ...(this.agent_id !== null && { agent_id: this.agent_id }) }
  }

  /** The agent of the task's last evaluation, when it named one. */
  agentOf(): Pick<Behavior, 'agent_id'> {
    const { agent_id } = this.facts
    return typeof agent_id === 'string' ? { agent_id } : {}
  }
}
