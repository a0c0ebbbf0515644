// Policies that applied to no replayed step, as findings at their place in the manifest.
import { quote } from '../../check/quote.js'
import { byPlace, type Finding } from '../../findings/finding.js'
import { severityOf } from '../../findings/kinds.js'
import type { PolicyTally, ReplayResult } from './result.js'

/** One finding for each policy of a file that was in effect for a replayed task, and applied to no step of any. */
export function neverApplied({ policies, tasks, unfinished_tasks }: ReplayResult): Finding[] {
  const ended = tasks - unfinished_tasks
  return policies.flatMap((policy) => (isNeverApplied(policy, ended) ? findingsOn(policy) : [])).sort(byPlace)
}

/** A policy of a registration applies to no step, and a policy of a task only to one that ended. */
export function isNeverApplied({ applicable, tasks, scope }: PolicyTally, ended: number): boolean {
  if (applicable > 0 || tasks === 0 || scope === 'agent_registration') return false
  return scope === 'step_execution' || ended > 0
}

/** The bundled baseline has no file that a person could correct. */
function findingsOn({ name, manifest: file, line, tasks }: PolicyTally): Finding[] {
  if (file === null || line === null) return []
  const of = tasks === 1 ? 'the replayed task' : `${tasks} replayed tasks`
  const message = `the policy ${quote(name)} applied to no step of ${of}: compare its target with their steps`
  return [{ id: 'never-applied', severity: severityOf('never-applied'), message, file, line, column: 1, path: '' }]
}
