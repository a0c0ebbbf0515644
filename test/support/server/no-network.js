// Loaded before a program with `--import`: every use of the network is written to the file SVC_TEST_NETWORK, and fails.
import { Socket as Datagrams } from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Server, Socket } from 'node:net'

const log = process.env.SVC_TEST_NETWORK
appendFileSync(log, 'loaded\n')
const reject = (name) => () => {
  appendFileSync(log, `${name}\n`)
  throw new Error(`the network is used: ${name}`)
}
Socket.prototype.connect = reject('connect')
Server.prototype.listen = reject('listen')
Datagrams.prototype.bind = reject('bind')
Datagrams.prototype.send = reject('send')
for (const place of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype])
  for (const name of Object.getOwnPropertyNames(place))
    if (/^(lookup|resolve|reverse)/.test(name)) place[name] = reject(name)
syncBuiltinESMExports()
