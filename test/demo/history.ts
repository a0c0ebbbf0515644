// Recorded runs as tasks of the last days. Their own times are older, or made up by the conversion.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Behavior } from '@svc/schemas'
import { startSvc } from '../support/cli/svc.js'
import { filesBelow, recordedRuns } from './company.js'

export interface RecordedStep extends Behavior {
  readonly task_id: string
  readonly timestamp: string
}

type Run = readonly RecordedStep[]

const dayMs = 86_400_000
/** The airline's runs are spread over this time; those of the examples took a week. */
const spreadMs = 5 * dayMs

/**
 * Writes the runs to a folder, a file for each task, and returns the folder. An import reads the files in the order of the
 * tasks. The last task ends before `now`.
 */
export async function writeHistory(folder: string, has_airline: boolean, now: number): Promise<string> {
  const runs = [...recentExamples(now), ...(has_airline ? await recentAirline(folder, now) : [])]
  const history = join(folder, 'history')
  mkdirSync(history)
  for (const run of runs) {
    const name = `${run[0]?.timestamp.replaceAll(':', '')}-${run[0]?.task_id}.jsonl`
    writeFileSync(join(history, name), run.map((step) => `${JSON.stringify(step)}\n`).join(''))
  }
  return history
}

/** Moved by whole days, so that the times of day stay. */
function recentExamples(now: number): Run[] {
  const runs = Object.values(filesBelow(recordedRuns.examples.path)).map(stepsIn)
  const last = Math.max(...runs.flat().map(({ timestamp }) => Date.parse(timestamp)))
  const later = Math.floor((now - last) / dayMs) * dayMs
  return runs.map((run) => moved(run, later))
}

async function recentAirline(folder: string, now: number): Promise<Run[]> {
  const out = join(folder, 'airline.jsonl')
  const { format, path } = recordedRuns.airline
  await startSvc(['import', format, path, '--out', out]).finished
  const runs = new Map<string, RecordedStep[]>()
  for (const step of stepsIn(readFileSync(out, 'utf8'))) {
    const run = runs.get(step.task_id)
    if (run === undefined) runs.set(step.task_id, [step])
    else run.push(step)
  }
  const each = spreadMs / runs.size
  return [...runs.values()].map((run, index) => {
    const start = now - (runs.size - index) * each
    return moved(run, Math.round(start - Date.parse(run[0]?.timestamp ?? '')))
  })
}

/** A run of the examples, by the name of its file. */
export function exampleRun(name: string): Run {
  return stepsIn(readFileSync(join(recordedRuns.examples.path, `${name}.jsonl`), 'utf8'))
}

function stepsIn(text: string): RecordedStep[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as RecordedStep)
}

function moved(run: Run, laterMs: number): Run {
  return run.map((step) => ({ ...step, timestamp: new Date(Date.parse(step.timestamp) + laterMs).toISOString() }))
}
