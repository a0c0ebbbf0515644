// The thread that replays tasks: it is given texts and policies, and no access to the database.
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createImpact, type ImpactInput } from '@svc/engine/parts'
import { isMetadataOnly, stepsIn } from '../recorded/stored-steps.js'
import type { ReplayAnswer, ReplayMessage } from './replay-thread.js'

// Linux gives each thread a priority of its own: requests come first.
try {
  if (process.platform === 'linux') setPriority(5)
} catch {
  // A sandbox can forbid it.
}
const impact = createImpact(workerData as ImpactInput)
let metadata_only = 0
parentPort?.on('message', (tasks: ReplayMessage) => {
  for (const { agent, lines } of tasks ?? []) {
    const steps = stepsIn(lines)
    if (isMetadataOnly(steps)) metadata_only += 1
    else impact.add(agent, steps)
  }
  const answer: ReplayAnswer | null = tasks === null ? { ...impact.finish(), metadata_only } : null
  parentPort?.postMessage(answer)
})
