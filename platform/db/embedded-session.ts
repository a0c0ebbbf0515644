// Connections of the driver share the one session of the embedded database: one of them holds it at a time.
import { Duplex } from 'node:stream'
import { setImmediate as otherWork } from 'node:timers/promises'

/** Sends whole messages of the PostgreSQL wire protocol to the backend; its answer arrives in parts of any length. */
type Backend = (messages: Uint8Array, take: (part: Uint8Array) => void) => Promise<void>

interface EmbeddedSession {
  /** A connection for the driver: a `stream` of `pg`. */
  readonly connect: () => Duplex
}

/**
 * Connections to a backend with one session. A connection holds the session from its first statement until the backend
 * reports that no transaction is open; the others wait in order of arrival, at most `maxWaitMs`.
 */
export function createSession(backend: Backend, maxWaitMs: number): EmbeddedSession {
  const lease = createLease(maxWaitMs)
  return { connect: () => new Connection(backend, lease) }
}

interface Lease {
  /** False when the wait timed out or was stopped. */
  readonly take: (owner: object) => Promise<boolean>
  readonly release: (owner: object) => void
  readonly stopWaiting: (owner: object) => void
  readonly isHeldBy: (owner: object) => boolean
}

function createLease(maxWaitMs: number): Lease {
  let holder: object | null = null
  const waiting = new Map<object, (granted: boolean) => void>()
  const wait = (owner: object) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => answer(owner, false), maxWaitMs)
      waiting.set(owner, (granted) => {
        clearTimeout(timer)
        resolve(granted)
      })
    })
  const answer = (owner: object, granted: boolean) => {
    const resolve = waiting.get(owner)
    waiting.delete(owner)
    resolve?.(granted)
  }
  return {
    take: async (owner) => {
      if (holder !== null && holder !== owner) return wait(owner)
      holder = owner
      return true
    },
    release: (owner) => {
      if (holder !== owner) return
      const [next] = waiting.keys()
      holder = next ?? null
      if (next !== undefined) answer(next, true)
    },
    stopWaiting: (owner) => answer(owner, false),
    isHeldBy: (owner) => holder === owner,
  }
}

/** Message types after which the backend answers: Query, Sync, Flush. */
const endsExchange = new Set([0x51, 0x53, 0x48])
const terminate = 0x58

/** A connection that the driver uses like a socket. */
class Connection extends Duplex {
  readonly #backend: Backend
  readonly #lease: Lease
  #collected: Buffer[] = []
  #started = false
  #isBusy = false

  constructor(backend: Backend, lease: Lease) {
    super()
    this.#backend = backend
    this.#lease = lease
  }

  // The methods that the driver calls on a socket.
  connect(): void {
    process.nextTick(() => this.emit('connect'))
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  override _read(): void {}

  /** The driver writes whole messages; they are buffered until one arrives that the backend answers. */
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#collected.push(chunk)
    if (!this.#isComplete(chunk)) {
      done()
      return
    }
    const messages = Buffer.concat(this.#collected)
    this.#collected = []
    this.#exchange(messages).then(() => done(), done)
  }

  /** The first message, the start-up message, has no type byte. */
  #isComplete(chunk: Buffer): boolean {
    if (this.#started) return endsExchange.has(lastMessageType(chunk) ?? 0)
    this.#started = true
    return true
  }

  async #exchange(messages: Buffer): Promise<void> {
    const isGranted = await this.#lease.take(this)
    if (this.destroyed) return this.#lease.release(this)
    if (!isGranted) {
      this.push(busyAnswer)
      return
    }
    this.#isBusy = true
    try {
      // The backend blocks the event loop: timers and sockets run before it.
      await otherWork()
      const status = await this.#ask(messages)
      if (status === idle && !this.destroyed) this.#lease.release(this)
    } finally {
      this.#isBusy = false
      if (this.destroyed) await this.#rollBack()
    }
  }

  /** The transaction status at the end of the answer; null for an answer without one. */
  async #ask(messages: Buffer): Promise<number | null> {
    let end: Buffer = Buffer.alloc(0)
    await this.#backend(messages, (part) => {
      // The backend reuses the memory of the part.
      const copy = Buffer.from(part)
      end = Buffer.concat([end, copy.subarray(-readyLength)]).subarray(-readyLength)
      if (!this.destroyed) this.push(copy)
    })
    return end.length === readyLength && end.subarray(0, 5).equals(readyHead) ? (end[5] ?? null) : null
  }

  override _final(done: (error?: Error | null) => void): void {
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#lease.stopWaiting(this)
    const ended = this.#isBusy ? Promise.resolve() : this.#rollBack()
    ended.then(
      () => done(error),
      () => done(error),
    )
  }

  /** Rolls back the open transaction of a connection that ends. */
  async #rollBack(): Promise<void> {
    if (!this.#lease.isHeldBy(this)) return
    try {
      await this.#backend(abandon, () => undefined)
    } finally {
      this.#lease.release(this)
    }
  }
}

/** The type of the last of the messages in a chunk; null when the chunk ends inside a message. */
function lastMessageType(chunk: Buffer): number | null {
  let type: number | null = null
  let at = 0
  while (at + 5 <= chunk.length) {
    type = chunk[at] ?? null
    at += 1 + chunk.readUInt32BE(at + 1)
  }
  return at === chunk.length && type !== terminate ? type : null
}

const idle = 'I'.charCodeAt(0)
const readyLength = 6
const readyHead = Buffer.from([0x5a, 0, 0, 0, 5])

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const abandon = Buffer.concat([message('S', Buffer.alloc(0)), message('Q', Buffer.from('rollback\0'))])

/** ErrorResponse with 55P03, lock_not_available; then ReadyForQuery outside a transaction. */
const busyAnswer = Buffer.concat([
  message('E', Buffer.from('SERROR\0VERROR\0C55P03\0Mthe embedded database is busy\0\0')),
  message('Z', Buffer.from('I')),
])
