// `svc verify` as one file without dependencies: the build makes proof/svc-verify.mjs of this.
import { parseArgs } from 'node:util'
import { exitCodes, runVerify } from './run.js'

const usage = `usage: node svc-verify.mjs BUNDLE --trust FILE [--since FILE] [--report FILE] [--json]

BUNDLE   a bundle of GET /api/v1/log/bundle
--trust  the trust policy: lines \`log KEY\`, \`witness NAME KEY\`, \`group NAME COUNT MEMBER…\`, \`quorum NAME\`
--since  a checkpoint of this log that you kept from an earlier bundle (its checkpoint.note)
--report the file of a report that the platform issued: the log must hold its SHA-256
--json   print the verdict as JSON

${exitCodes}
`

const options = {
  trust: { type: 'string' },
  since: { type: 'string' },
  report: { type: 'string' },
  rejudge: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const [path] = positionals
    if (values.help) {
      process.stdout.write(usage)
      return 0
    }
    const { trust, since, report, json = false } = values
    if (values.rejudge) {
      process.stderr.write(
        'svc verify: --rejudge needs the policy engine, which the command `svc verify` has: run it there\n',
      )
      return 2
    }
    if (path === undefined || positionals.length > 1 || trust === undefined) {
      process.stderr.write(`give one bundle and --trust\n\n${usage}`)
      return 2
    }
    const files = { ...(since !== undefined && { since }), ...(report !== undefined && { report }) }
    return await runVerify(path, { trust, json, ...files }, process.stdout, process.stderr)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return 2
  }
}
