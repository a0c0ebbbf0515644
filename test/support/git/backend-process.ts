// A process that offers Git repositories with Git's own program: the folder and the path are headers of a request.
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  const { 'x-folder': folder, 'x-path': path } = request.headers
  backend(String(folder), String(path), request, response)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
// It ends with the process that started it.
process.on('disconnect', () => process.exit())

/** Git's program for servers, by the rules of CGI. */
function backend(folder: string, path: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(path, 'http://localhost')
  const { headers } = request
  const env = {
    PATH: process.env.PATH ?? '',
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: request.method ?? '',
    CONTENT_TYPE: headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  }
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  request.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  response.on('close', () => child.kill())
  let head = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', onData)
    const lines = head.subarray(0, end).toString('latin1').split('\r\n')
    const pairs = lines.map((line) => line.split(/: (.*)/s) as [string, string])
    const status = Number(pairs.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200)
    response.writeHead(status, Object.fromEntries(pairs.filter(([name]) => name !== 'Status')))
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  }
  child.stdout.on('data', onData)
}
