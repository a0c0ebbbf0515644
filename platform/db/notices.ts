// Notices that invalidate what processes have cached. On a server they are sent with LISTEN and NOTIFY; an embedded database
// has one process, which delivers them itself.
import { parseJson } from '@svc/proof'
import pg from 'pg'
import type { Remark, Transaction } from './db.js'

interface Notice {
  readonly kind: 'api_key_changed'
  readonly key_id: string
}

export interface Notices {
  /** Called within the transaction of a change: other processes get the notice when it commits. */
  readonly announce: (tx: Transaction, notice: Notice) => Promise<void>
  /** Called after that transaction: this process gets the notice now. */
  readonly deliver: (notice: Notice) => void
  /** `listener` gets null when notices may have been missed: all caches are then invalid. */
  readonly subscribe: (listener: (notice: Notice | null) => void) => void
  /** True if notices of other processes arrive. */
  readonly isConnected: () => boolean
  readonly close: () => Promise<void>
}

const channel = 'svc_notices'
const hello = 'hello'
const minDelayMs = 100
const maxDelayMs = 5000

/** `database_url`: the server, or null for an embedded database. `remark` reports a lost connection. */
export function createNotices(database_url: string | null, remark: Remark): Notices {
  const listeners: ((notice: Notice | null) => void)[] = []
  const deliver = (notice: Notice | null) => {
    for (const listener of listeners) listener(notice)
  }
  const subscribe = (listener: (notice: Notice | null) => void) => {
    listeners.push(listener)
  }
  if (database_url === null) {
    return {
      announce: async () => undefined,
      deliver,
      subscribe,
      isConnected: () => true,
      close: async () => undefined,
    }
  }
  const connection = listen(database_url, deliver, remark)
  const announce = async (tx: Transaction, notice: Notice) => {
    await tx.query('select pg_notify($1, $2)', [channel, JSON.stringify(notice)])
  }
  return { announce, deliver, subscribe, ...connection }
}

/** Listens on one connection, and replaces it when it is lost. */
function listen(
  connectionString: string,
  deliver: (notice: Notice | null) => void,
  remark: Remark,
): Pick<Notices, 'isConnected' | 'close'> {
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined
  let is_connected = false
  let is_closed = false
  let delay = minDelayMs

  const connect = async () => {
    const made = new pg.Client({ connectionString, ...connectionOptions })
    client = made
    made.on('error', () => lose(made))
    made.on('end', () => lose(made))
    made.on('notification', ({ payload = '', processId }) => {
      if (payload !== hello) return deliver(read(payload))
      // A pooler that gives each statement another connection accepts LISTEN but delivers nothing: only an echo proves delivery.
      if (processId === (made as { processID?: number }).processID) arrive()
    })
    try {
      await made.connect()
      await made.query(`listen ${channel}`)
      await made.query(`select pg_notify('${channel}', '${hello}')`)
    } catch {
      lose(made)
    }
  }
  const arrive = () => {
    is_connected = true
    delay = minDelayMs
    deliver(null)
  }
  const lose = (lost: pg.Client) => {
    if (client !== lost) return
    client = null
    lost.end().catch(() => undefined)
    if (is_closed) return
    if (is_connected) remark('lost the connection that listens for changes of API keys: reconnecting')
    is_connected = false
    deliver(null)
    timer = setTimeout(connect, delay)
    delay = Math.min(maxDelayMs, delay * 2)
  }
  const close = async () => {
    is_closed = true
    clearTimeout(timer)
    await client?.end().catch(() => undefined)
  }
  void connect()
  return { isConnected: () => is_connected, close }
}

const connectionOptions = {
  application_name: 'svc notices',
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 5000,
}

/** Null for a notice that another version sent: all caches are then invalid. */
function read(payload: string): Notice | null {
  try {
    const { kind, key_id } = parseJson(payload) as Partial<Notice>
    return kind === 'api_key_changed' && typeof key_id === 'string' ? { kind, key_id } : null
  } catch {
    return null
  }
}
