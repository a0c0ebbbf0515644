// What a process must hear of at once, because it may have cached the opposite. On a server processes hear of each other by
// LISTEN and NOTIFY; an embedded database has one process, which tells itself.
import pg from 'pg'
import type { Remark, Transaction } from './db.js'

export interface Notice {
  readonly kind: 'api_key_changed'
  readonly key_id: string
}

export interface Notices {
  /** Within the transaction of a change: other processes hear of it when that commits. */
  readonly announce: (tx: Transaction, notice: Notice) => Promise<void>
  /** After that transaction: this process hears of it now. */
  readonly deliver: (notice: Notice) => void
  /** `hear` gets null where notices may have been missed, so that everything cached is in doubt. */
  readonly subscribe: (hear: (notice: Notice | null) => void) => void
  /** Whether notices of all processes arrive here. */
  readonly isConnected: () => boolean
  readonly close: () => Promise<void>
}

const channel = 'svc_notices'
const hello = 'hello'
/** ms. */
const [firstDelay, longestDelay] = [100, 5000]

/** `database_url`: the server, or null for an embedded database. `remark` hears when the connection is lost. */
export function createNotices(database_url: string | null, remark: Remark): Notices {
  const hearers: ((notice: Notice | null) => void)[] = []
  const tell = (notice: Notice | null) => {
    for (const hear of hearers) hear(notice)
  }
  const subscribe = (hear: (notice: Notice | null) => void) => {
    hearers.push(hear)
  }
  if (database_url === null) {
    return {
      announce: async () => undefined,
      deliver: tell,
      subscribe,
      isConnected: () => true,
      close: async () => undefined,
    }
  }
  const listener = listen(database_url, tell, remark)
  const announce = async (tx: Transaction, notice: Notice) => {
    await tx.query('select pg_notify($1, $2)', [channel, JSON.stringify(notice)])
  }
  return { announce, deliver: tell, subscribe, ...listener }
}

/** Keeps one connection that listens, and makes another when it is lost. */
function listen(
  connectionString: string,
  tell: (notice: Notice | null) => void,
  remark: Remark,
): Pick<Notices, 'isConnected' | 'close'> {
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined
  let is_connected = false
  let is_closed = false
  let delay = firstDelay

  const connect = async () => {
    const made = new pg.Client({ connectionString, ...connection })
    client = made
    made.on('error', () => lose(made))
    made.on('end', () => lose(made))
    made.on('notification', ({ payload = '', processId }) => {
      if (payload !== hello) return tell(read(payload))
      // A pooler that gives each statement another connection accepts LISTEN and delivers nothing: only an echo proves it.
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
    delay = firstDelay
    tell(null)
  }
  const lose = (lost: pg.Client) => {
    if (client !== lost) return
    client = null
    lost.end().catch(() => undefined)
    if (is_closed) return
    if (is_connected) remark('the connection that listens for changes of API keys is lost: connecting again')
    is_connected = false
    tell(null)
    timer = setTimeout(connect, delay)
    delay = Math.min(longestDelay, delay * 2)
  }
  const close = async () => {
    is_closed = true
    clearTimeout(timer)
    await client?.end().catch(() => undefined)
  }
  void connect()
  return { isConnected: () => is_connected, close }
}

const connection = {
  application_name: 'svc notices',
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 5000,
}

/** Null for what another version may have sent: everything cached is in doubt then. */
function read(payload: string): Notice | null {
  try {
    const { kind, key_id } = JSON.parse(payload) as Partial<Notice>
    return kind === 'api_key_changed' && typeof key_id === 'string' ? { kind, key_id } : null
  } catch {
    return null
  }
}
