// The thread that replays tasks: it is given texts and policies, and no access to the database.
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { ReplayWork, StoredSteps } from './replay-messages.js'
import { answersOn } from './replayed-tasks.js'

// Linux gives each thread a priority of its own: requests come first.
try {
  if (process.platform === 'linux') setPriority(5)
} catch {
  // A sandbox can forbid it.
}
const answer = answersOn(workerData as ReplayWork)
parentPort?.on('message', (tasks: readonly StoredSteps[]) => parentPort?.postMessage(tasks.map(answer)))
