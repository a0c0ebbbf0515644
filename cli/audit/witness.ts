// `svc witness`: somebody else's word that a log has only grown.
import { Command } from 'commander'
import { portOf } from '../port.js'
import type { WitnessOptions } from './witness-server.js'

const example = `
Example:
  svc witness --name witness.example --log 'log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c'

The key of a log is the \`key\` of GET /api/v1/log/checkpoint. The witness answers POST /add-checkpoint as C2SP
tlog-witness has it; its own key, which those who trust it write down, is printed at start.

Exit codes: 0 stopped, 1 could not start, 2 usage`

export function witnessCommand(): Command {
  return new Command('witness')
    .description("sign for other people's logs as long as they only grow")
    .requiredOption('--name <name>', 'what the witness is called, such as its host name')
    .option('--log <key>', 'the key of a log to watch; repeatable', (key, list: string[]) => [...list, key], [])
    .option('--dir <folder>', 'where its key and its memory are', 'witness')
    .option('--host <host>', 'where to listen', '127.0.0.1')
    .option('--port <port>', 'where to listen; 0 takes a free one', portOf, 8766)
    .addHelpText('after', example)
    .action(async (options: WitnessOptions) => {
      const { runWitness } = await import('./witness-server.js')
      process.exitCode = await runWitness(options, process.stdout, process.stderr)
    })
}
