// `svc bundle` and `svc checkpoint`: what an auditor takes away from the workspace they work in.

import { keyLines } from '@svc/proof'
import type { LogCheckpoint } from '@svc/schemas'
import type { Command } from 'commander'
import { type Act, actCommand, timeOf } from '../account/desk.js'

export function bundleCommand(): Command {
  return actCommand(bundle, 'svc bundle --from 2026-01-01 --to 2026-02-01 --out january.zip')
}

export function checkpointCommand(): Command {
  return actCommand(checkpoint, 'svc checkpoint > trust.policy')
}

const bundle: Act = {
  call: 'bundle',
  does: 'download what the log of your workspace received in a period, to be checked offline with svc verify',
  options: [
    ['--from <time>', 'from then on, such as 2026-01-01 or 2026-01-01T09:00:00Z'],
    ['--to <time>', 'before then'],
    ['--since <size>', 'size of a checkpoint that you kept'],
    ['--out <file>', 'where to write it', 'bundle.zip'],
  ],
  run: async ({ save, here }, _args, { from, to, since, out = 'bundle.zip' }) => {
    if (since !== undefined && !/^\d{1,15}$/.test(since))
      throw new Error(
        '--since takes the size of a checkpoint that you kept, a number; svc verify --since takes its file',
      )
    const asked = [
      ['from', timeOf('--from', from)],
      ['to', timeOf('--to', to)],
      ['since', since],
    ].filter((one): one is [string, string] => one[1] !== undefined)
    await save(`/api/v1/log/bundle?${new URLSearchParams(asked)}`, out)
    const line = `${out}: the log of ${here().name}; check it with svc verify ${out} --trust trust.policy`
    return { lines: [line], json: { file: out } }
  },
}

const checkpoint: Act = {
  call: 'checkpoint',
  does: 'the keys of the log of your workspace, as lines for a trust policy, with their fingerprints',
  run: async ({ get }) => {
    const found = await get<LogCheckpoint>('/api/v1/log/checkpoint')
    const seen = `# ${found.size} entries signed on ${found.published_at}`
    const warning =
      '# compare the fingerprint with one that you have by another way: by phone, on paper, from a contract'
    return { lines: [seen, warning, ...keyLines(found.keys)], json: found }
  },
}
