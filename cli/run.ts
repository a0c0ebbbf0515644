// Runs the command `svc` in this process: its arguments, environment, streams and exit code.
import { calledAs, currentCall } from './called-as.js'
import { main } from './main.js'

/** Commands that continue when the reader of their output has ended. */
const servers = ['serve', 'witness']
const words = process.argv.slice(2)

// A reader that ends, such as `head`, is not an error of the command. The exit code is the one that a shell reports for SIGPIPE,
// not 0, because the unprinted text may hold the verdict.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (!servers.includes(words[0] ?? '')) process.exit(code === 'EPIPE' ? 141 : 1)
  })

const { env, stdout, stderr } = process
await main(words, {
  svc: calledAs(currentCall(process)),
  env,
  // Opened at its first use: an open standard input keeps the process alive.
  get stdin() {
    return process.stdin
  },
  stdout,
  stderr,
  exit: (code) => {
    process.exitCode = code
  },
})
