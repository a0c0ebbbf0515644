// The reference: Express 5 with its JSON parser, which answers a constant.
import type { AddressInfo } from 'node:net'
import express from 'express'

const app = express()
app.use(express.json())
app.post('/', (_request: express.Request, response: express.Response) => {
  response
    .status(201)
    .json({ log_id: 'log', task_id: 'task', step: 1, seq: 1, hash: '', prev_hash: '', log_index: 0, violations: [] })
})
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
)
