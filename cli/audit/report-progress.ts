// The progress of a report on standard error: a bar on a terminal, otherwise a line for each step.
import type { Report } from '@svc/schemas'
import cliProgress from 'cli-progress'
import type { TextStream } from '../terminal.js'

export interface ReportProgress {
  /** The request is repeated, for this reason. */
  readonly wait: (reason: string) => void
  readonly show: (report: Report) => void
  /** Removes the bar. May be called again. */
  readonly close: () => void
}

/** The steps of lines, as shares of the work. */
const steps = 4

export function openProgress(stderr: TextStream): ReportProgress {
  const bar = stderr.isTTY ? openBar(stderr) : null
  let last = ''
  const line = (text: string) => {
    if (text === last) return
    last = text
    stderr.write(`${text}\n`)
  }
  return {
    wait: (reason) => line(`waiting: ${reason}`),
    show: ({ id, status, progress }) => {
      if (bar !== null) return bar.show(status, progress)
      const share = Math.floor(progress * steps) / steps
      line(status === 'queued' ? `${id} is queued` : `${id} is in progress, ${Math.floor(share * 100)} %`)
    },
    close: () => bar?.close(),
  }
}

function openBar(stream: TextStream) {
  const format = '{bar} {percentage} %, {state}'
  // The caller ends the process: the handler of the bar would keep it alive after SIGTERM.
  const options = { format, stream, clearOnComplete: true, gracefulExit: false }
  const bar = new cliProgress.SingleBar(options, cliProgress.Presets.shades_classic)
  let isOpen = false
  return {
    show: (state: string, share: number) => {
      const value = Math.floor(share * 100)
      if (isOpen) bar.update(value, { state })
      else bar.start(100, value, { state })
      isOpen = true
    },
    close: () => {
      if (isOpen) bar.stop()
      isOpen = false
    },
  }
}
