// The admin socket: operator commands use it to reach a platform that runs on an embedded database, which a second process cannot
// open. Only the user that runs the platform can connect.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJson } from '@svc/proof'
import { type AdminParts, adminOperations } from './operations.js'

interface AdminRequest {
  readonly operation: string
  readonly email: string
}

type AdminAnswer = { readonly lines: readonly string[] } | { readonly message: string }

interface AdminSocket {
  /** Stops accepting connections, and waits for running operations. */
  readonly close: () => Promise<void>
}

/** Unix sockets do not allow longer paths on every system (`sun_path` has 104 to 108 bytes). */
const maxPathBytes = 100
const maxMessage = 10_000
const timeoutMs = 30_000

/** Serves the operations in the data directory; null on Windows, which has no such sockets. */
export async function openAdminSocket(data_dir: string, parts: AdminParts): Promise<AdminSocket | null> {
  if (process.platform === 'win32') return null
  const folder = join(data_dir, 'admin')
  rmSync(folder, { recursive: true, force: true })
  // The folder is made private before the socket exists, so that no other user can connect in between.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const own = Buffer.byteLength(socketIn(folder)) > maxPathBytes ? mkdtempSync(join(tmpdir(), 'svc-admin-')) : null
  const path = socketIn(own ?? folder)
  if (own !== null) symlinkSync(path, socketIn(folder))
  const pending = new Map<Promise<void>, Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const served = serve(socket, parts).finally(() => pending.delete(served))
    pending.set(served, socket)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, () => resolve()))
  chmodSync(path, 0o600)
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    // Clients that have not sent their request yet are disconnected.
    for (const socket of pending.values()) if (!socket.readableEnded) socket.destroy()
    await Promise.all(pending.keys())
    await closed
    for (const one of [folder, own]) if (one !== null) rmSync(one, { recursive: true, force: true })
  }
  return { close }
}

/** The answer of the platform that runs on this data directory; null where none answers. */
export async function askAdminSocket(data_dir: string, request: AdminRequest): Promise<AdminAnswer | null> {
  const path = knownPath(join(data_dir, 'admin'))
  if (path === null) return null
  const socket = connect({ path, allowHalfOpen: true })
  try {
    socket.end(JSON.stringify(request))
    return parseJson(await readAll(socket)) as AdminAnswer
  } catch {
    // The platform was killed, or ended before it answered.
    return null
  } finally {
    socket.destroy()
  }
}

function socketIn(folder: string): string {
  return join(folder, 'admin.sock')
}

/** The path to connect to; the target of the symbolic link where the path in the data directory is too long. */
function knownPath(folder: string): string | null {
  try {
    const link = socketIn(folder)
    return Buffer.byteLength(link) > maxPathBytes ? realpathSync(link) : link
  } catch {
    return null
  }
}

async function serve(socket: Socket, parts: AdminParts): Promise<void> {
  try {
    const answer = await answerTo(parseJson(await readAll(socket)) as Partial<AdminRequest>, parts)
    await new Promise<void>((resolve) => socket.end(JSON.stringify(answer), () => resolve()))
  } catch {
    // The client disconnected or sent an invalid request.
    socket.destroy()
  }
}

async function answerTo({ operation, email }: Partial<AdminRequest>, parts: AdminParts): Promise<AdminAnswer> {
  const found = adminOperations.find(({ name }) => name === operation)
  if (found === undefined || typeof email !== 'string')
    return { message: `the running platform has no operation \`${operation}\`` }
  try {
    return { lines: await found.run(parts, email) }
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) }
  }
}

function readAll(socket: Socket): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    socket.setTimeout(timeoutMs, () => reject(new Error('no answer in time')))
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (text.length > maxMessage) reject(new Error('the message is too long'))
    })
    socket
      .once('end', () => resolve(text))
      .once('error', reject)
      .once('close', () => reject(new Error('the connection was closed')))
  })
}
