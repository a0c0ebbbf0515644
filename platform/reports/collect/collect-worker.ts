// The thread that makes a report: it is given texts, and has no access to the database.
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { ReportAnswer, ReportData, ReportMessage, ReportWork } from '@svc/report'
import { createTally, render } from '@svc/report'

// Linux gives each thread a priority of its own: requests come first.
try {
  if (process.platform === 'linux') setPriority(5)
} catch {
  // A sandbox can forbid it.
}
const tally = createTally(workerData as ReportWork)

async function answerTo(message: ReportMessage): Promise<ReportAnswer> {
  if (message.kind === 'render') return render(tally({ kind: 'data' }) as ReportData)
  const answer = tally(message)
  return message.kind === 'data' ? { data: answer as ReportData } : (answer as ReportAnswer)
}

// Only the last message is answered later than the next one could arrive.
parentPort?.on('message', (message: ReportMessage) => {
  void answerTo(message).then((answer) => parentPort?.postMessage(answer))
})
