// A progress bar, on a terminal only.
import cliProgress from 'cli-progress'

export interface Progress {
  readonly tick: () => void
  readonly stop: () => void
}

export function progressBar(total: number, unit: string): Progress {
  if (!process.stderr.isTTY || total === 0) return { tick: () => undefined, stop: () => undefined }
  const format = `{bar} {value}/{total} ${unit}, {eta_formatted} left`
  const bar = new cliProgress.SingleBar(
    { format, stream: process.stderr, clearOnComplete: true },
    cliProgress.Presets.shades_classic,
  )
  bar.start(total, 0)
  return { tick: () => bar.increment(), stop: () => bar.stop() }
}
