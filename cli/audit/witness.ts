// `svc witness`: an independent signature that a log has only grown.
import { Command } from 'commander'
import { portOf } from '../port.js'
import type { Terminal } from '../terminal.js'
import type { WitnessOptions } from './witness-server.js'

type CommandOptions = Omit<WitnessOptions, 'log'> & Partial<Pick<WitnessOptions, 'log'>>

const example = (svc: string) => `
Example:
  ${svc} witness --name witness.example --log 'log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c'

The key of a log is the \`key\` of GET /api/v1/log/checkpoint. The witness answers POST /add-checkpoint (C2SP tlog-witness).
It prints its own key at start, for trust policies.

Exit codes: 0 stopped, 1 could not start, 2 usage`

export function witnessCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('witness')
    .description('run a witness, which signs checkpoints of logs as long as they only grow')
    .requiredOption('--name <name>', 'name of the witness, such as its host name')
    .option('--log <key>', 'the key of a log to watch; repeatable', (key, list: string[] = []) => [...list, key])
    .option('--dir <folder>', 'folder of its key and of the checkpoints it has signed', 'witness')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', portOf, 8766)
    .addHelpText('after', example(svc))
    .action(async ({ log = [], ...options }: CommandOptions) => {
      const { runWitness } = await import('./witness-server.js')
      terminal.exit(await runWitness({ ...options, log }, terminal.stdout, terminal.stderr))
    })
}
