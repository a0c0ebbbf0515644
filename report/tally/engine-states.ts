// Compares the states of engines, from which ungoverned time follows, with those that the log holds.
import { parseJson } from '@svc/proof'
import type { EngineStateRow, LeafRow } from '../content/messages.js'
import { eventOf, readLeaf } from './leaves.js'
import type { Problem } from './problems.js'

const altered = 'engine_state_altered'

/**
 * Compares rows with their events. The end of a row may be later than its event says: a heartbeat that only continues a state makes
 * no entry.
 */
export function createEngineStates(report: Problem) {
  const inPeriod = new Set<number>()
  return {
    /** An event of an engine in the period. */
    event: (log_index: number) => inPeriod.add(log_index),
    compare: (rows: readonly EngineStateRow[]) => {
      for (const row of rows) {
        inPeriod.delete(row.log_index)
        if (!isRecorded(row))
          report(altered, row.log_index, `the state of an engine at ${row.log_index} is not that of the log`)
      }
    },
    /** Events outside of the period without a row. */
    lost: (indexes: readonly number[]) => {
      for (const index of indexes) lost(index)
    },
    /** Call once, after all rows. */
    finish: () => {
      for (const index of inPeriod) lost(index)
    },
  }

  function lost(index: number): void {
    report('engine_state_missing', index, `the state of an engine that entry ${index} records is missing`)
  }
}

/** A row whose event was pruned cannot be compared. */
function isRecorded({ line, is_unrecorded, ...row }: EngineStateRow): boolean {
  if (line === null) return !is_unrecorded
  const leaf = readLeaf(parseJson(line) as LeafRow)
  if (leaf === 'altered') return false
  if (leaf.values === null) return true
  const event = eventOf(leaf)
  if (event === null || event.kind !== 'engine.state' || event.subject_id !== row.agent_id) return false
  const { data } = event
  const isSame =
    data.instance_id === row.instance_id && data.load_state === row.load_state && isAt(data.since, row.since)
  const isKnown =
    isAt(data.known_from, row.known_from) && Date.parse(String(data.known_until)) <= Date.parse(row.known_until)
  return isSame && isKnown && data.ended === row.ended
}

function isAt(text: unknown, time: string): boolean {
  return typeof text === 'string' && Date.parse(text) === Date.parse(time)
}
