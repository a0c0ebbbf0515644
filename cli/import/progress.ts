// A progress bar, on a terminal only.
import cliProgress from 'cli-progress'
import type { TextStream } from '../terminal.js'

export interface Progress {
  readonly tick: () => void
  readonly stop: () => void
}

export function progressBar(stream: TextStream, total: number, unit: string): Progress {
  if (!stream.isTTY || total === 0) return { tick: () => undefined, stop: () => undefined }
  const format = `{bar} {value}/{total} ${unit}, {eta_formatted} left`
  const bar = new cliProgress.SingleBar({ format, stream, clearOnComplete: true }, cliProgress.Presets.shades_classic)
  bar.start(total, 0)
  return { tick: () => bar.increment(), stop: () => bar.stop() }
}
