// Files and long answers: sent as they are read, and given up when the caller disconnects or stops reading.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import type { Reply, ReplyFile, ReplyStream } from './route.js'

/** The maximum time of a download without progress, ms. */
const downloadTimeoutMs = 60_000

/** Sends the file, then discards it; a caller that disconnects ends the download without an error. */
export async function sendFile(response: Response, { path, type, name, discard }: ReplyFile): Promise<void> {
  try {
    const { size } = await stat(path)
    startDownload(response, { bytes: size, type, name })
    await pipeline(createReadStream(path), response).catch(() => response.destroy())
  } finally {
    await discard()
  }
}

/** Sends the chunks as they are read; without one of them the connection breaks, so that no caller takes a part for the file. */
export async function sendStream(
  response: Response,
  { status, headers: extra }: Reply,
  stream: ReplyStream,
): Promise<void> {
  response.status(status)
  for (const [name, value] of Object.entries(extra ?? {})) response.setHeader(name, value)
  startDownload(response, stream)
  await pipeline(stream.chunks, response).catch(() => response.destroy())
}

interface Download {
  readonly type: string
  /** The file name for the caller. */
  readonly name: string
  /** Absent if it is not known before the last of them is sent. */
  readonly bytes?: number
}

/** Sets the headers of a file that follows. */
export function startDownload(response: Response, { bytes, type, name }: Download): void {
  response.setHeader('content-type', type)
  if (bytes !== undefined) response.setHeader('content-length', bytes)
  response.setHeader('content-disposition', `attachment; filename="${name}"`)
  response.setHeader('cache-control', 'no-store')
  // A caller that stops reading must not keep the file open.
  response.setTimeout(downloadTimeoutMs, () => response.destroy())
}

/** A signal that aborts when the caller disconnects; made on demand, because few handlers wait. */
export function disconnection(response: Response): () => AbortSignal {
  let signal: AbortSignal | null = null
  return () => {
    if (signal !== null) return signal
    const gone = new AbortController()
    signal = gone.signal
    if (response.closed) gone.abort()
    response.once('close', () => gone.abort())
    return signal
  }
}
