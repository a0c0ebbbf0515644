// The trace as bodies of POST /api/v1/logs, one a line: the file can be posted to /api/v1/logs/batch as it is.
import { hasWritePermission, type LogRequest } from '@svc/schemas'
import { isExternalCall } from '../../rules/taint/target-trust.js'
import { stepOfEnd } from '../delivery/end-step.js'
import type { Sink, TraceLine } from './sink.js'

/**
 * A sink of lines that writes entries instead: steps, and the end of a task that has no step for it. Incidents stay as they
 * are; other lines are left out. Entries are not read back.
 */
export function inEntryFormat(sink: Sink, agent_key: string | undefined): Sink {
  return {
    ...sink,
    recall: null,
    write: (line) => {
      const entry = entryOf(line, agent_key)
      // A sink of lines writes any object; only the members of a trace line would be read back.
      if (entry !== null) sink.write(entry as TraceLine)
    },
  }
}

/** Null for a line that is left out. */
function entryOf(line: TraceLine, agent_key: string | undefined): object | null {
  if (line.kind === 'incident') return line
  const step = line.kind === 'end' ? stepOfEnd(line) : line
  return step?.kind === 'step' ? entryOfStep(step, agent_key) : null
}

function entryOfStep(line: Extract<TraceLine, { kind: 'step' }>, agent_key: string | undefined): LogRequest {
  const { kind: _kind, recorded_at, task_id = '', agent_id, step = 1, step_type, timestamp, ...members } = line
  return {
    task_id,
    step,
    step_type,
    timestamp: timestamp ?? recorded_at,
    is_external_call: isExternalCall(line),
    has_write_permission: hasWritePermission(line),
    ...members,
    ...agentOf(agent_id, agent_key, members.meta),
  }
}

/** An id that the platform made. */
const platformId = /^ag_[0-9a-f]{32}$/

/** The agent by its key; the id that a local caller chose is its key, unless one is set, and then stays in `meta`. */
function agentOf(agent_id: string | undefined, agent_key: string | undefined, meta: LogRequest['meta']) {
  if (agent_key === undefined)
    return agent_id === undefined ? {} : platformId.test(agent_id) ? { agent_id } : { agent_key: agent_id }
  const isOther = agent_id !== undefined && agent_id !== agent_key && !platformId.test(agent_id)
  return { agent_key, ...(isOther && { meta: { ...meta, agent_id } }) }
}
