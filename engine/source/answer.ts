// The parts of an answer that every request to a platform or another receiver reads.

/** Larger answers are not read: no receiver has that much to say about one request. */
const maxAnswerBytes = 16 * 1024 * 1024

/** The whole body. Rejects when it is too large. */
export async function bytesOf({ body }: { readonly body: AsyncIterable<Uint8Array> | null }): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxAnswerBytes) throw new Error('the answer is larger than 16 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** `Retry-After`: seconds, or a date (RFC 9110 §10.2.3), as ms from now; null for none. */
export function waitOf({ headers }: { readonly headers: Pick<Headers, 'get'> }, now: number): number | null {
  const header = headers.get('retry-after') ?? ''
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return wait > 0 ? wait : null
}

/** The cause of a failed fetch has more detail than its message. `timeout` is in ms. */
export function reasonOf(error: unknown, timeout: number): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return `no answer within ${timeout / 1000} s`
  // The message quotes a value that cannot be sent, also a key.
  if (name === 'TypeError' && cause === undefined) return 'the address or a header cannot be sent'
  return cause?.code ?? cause?.message ?? message
}

/**
 * Calls `act` with a signal that aborts after `timeout` ms, and with `stopping`. Not AbortSignal.any and AbortSignal.timeout: fetch holds
 * a signal weakly, and one that nothing else holds may never abort.
 */
export async function withinTime<T>(
  timeout: number,
  stopping: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(new DOMException('too late', 'TimeoutError')), timeout)
  const onStop = () => stop.abort(stopping.reason)
  stopping.addEventListener('abort', onStop)
  if (stopping.aborted) onStop()
  try {
    return await act(stop.signal)
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', onStop)
  }
}
