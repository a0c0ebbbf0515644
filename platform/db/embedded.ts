// PGlite in this process, in its own folder under the data directory.

import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { LockTaken, takeLock } from '@svc/engine/parts'
import { PlatformError } from '../errors.js'
import { createSession } from './embedded-session.js'
import { openParents, prepareFolder } from './new-database.js'

interface Embedded {
  /** A connection for the driver. */
  readonly connect: () => Duplex
  readonly close: () => Promise<void>
}

/** The maximum wait of a statement for the transactions before it, ms. */
const maxWaitMs = 20_000

/**
 * Opens the database in the data directory; the first start copies `new_database` if it exists.
 * Throws CONFLICT when another process has it open.
 */
export async function startEmbedded(
  data_dir: string,
  new_database: string | null,
  remark: (message: string) => void,
): Promise<Embedded> {
  const unlock = lockedBy(data_dir)
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const folder = join(data_dir, 'pg')
    prepareFolder(folder, new_database)
    for (const parent of openParents(folder))
      remark(`\`${parent}\` is writable by every user, who could replace the database: run \`chmod o-w ${parent}\``)
    const pglite = await PGlite.create({ dataDir: folder })
    const session = createSession(
      (messages, take) => pglite.execProtocolRawStream(messages, { onRawData: take }),
      maxWaitMs,
    )
    const close = async () => {
      await pglite.close()
      unlock()
    }
    return { connect: session.connect, close }
  } catch (error) {
    unlock()
    throw error
  }
}

/** PGlite itself has no lock: a second process would corrupt the data. */
function lockedBy(data_dir: string): () => void {
  try {
    return takeLock(data_dir, 'set SVC_DATA_DIR')
  } catch (error) {
    throw error instanceof LockTaken ? new PlatformError('CONFLICT', `data directory ${error.message}`) : error
  }
}
