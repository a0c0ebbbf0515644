// `npm run protection`: plays the corpus of test/protection, prints the figures, and writes docs/protection.md.
import { startVitest } from 'vitest/node'

process.env.SVC_WRITE_PROTECTION = '1'
const options = { project: ['fast'], watch: false, disableConsoleIntercept: true, reporters: ['dot'] }
const vitest = await startVitest('test', ['test/protection/protection.test.ts'], options)
await vitest.close()
