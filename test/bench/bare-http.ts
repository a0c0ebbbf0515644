// The reference: node:http, which reads the body and answers the bytes of a file.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const bytes = readFileSync(process.argv[2] ?? '')
const headers = { 'content-type': 'application/json', 'content-length': bytes.length, 'cache-control': 'no-store' }
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, headers).end(bytes))
}).listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
