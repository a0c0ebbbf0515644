// `svc bundle` and `svc checkpoint`: the evidence that an auditor downloads from the current workspace.
import { trustPolicyLines } from '@svc/proof'
import type { LogCheckpoint } from '@svc/schemas'
import type { Command } from 'commander'
import { memberCommand, type Subcommand } from '../account/subcommand.js'
import { endOption, timeOption } from '../account/time-option.js'
import { shellWord } from '../called-as.js'
import type { Terminal } from '../terminal.js'

export function bundleCommand(terminal: Terminal): Command {
  return memberCommand(terminal, bundle, ['bundle --from 2026-01-01 --to 2026-01-31 --out january.zip'])
}

export function checkpointCommand(terminal: Terminal): Command {
  return memberCommand(terminal, checkpoint, ['checkpoint > trust.policy'])
}

const bundle: Subcommand = {
  call: 'bundle',
  description: 'download a proof bundle: the entries of the log of your workspace that were received in a period',
  options: [
    ['--from <time>', 'start of the period, such as 2026-01-01 or 2026-01-01T09:00:00Z'],
    ['--to <time>', 'end of the period: a day, which is included, or a time, which is not'],
    ['--report <id>', 'the period of an issued report, with the entry that holds its SHA-256; without --from and --to'],
    ['--since <size>', 'size of a checkpoint that you kept'],
    ['--out <file>', 'file to write', 'bundle.zip'],
  ],
  run: async ({ save, workspace, svc }, _args, { from, to, report, since, out = 'bundle.zip' }) => {
    if (report !== undefined && (from !== undefined || to !== undefined))
      throw new Error('give either `--report` or `--from` and `--to`: a report has its own period')
    if (since !== undefined && !/^\d{1,15}$/.test(since))
      throw new Error(
        `\`--since\` is \`${since}\`: write the size of a checkpoint that you kept, a number; its file is for \`${svc} verify --since\``,
      )
    const query = [
      ['from', timeOption('--from', from)],
      ['to', endOption('--to', to)],
      ['report', report],
      ['since', since],
    ].filter((one): one is [string, string] => one[1] !== undefined)
    await save(`/api/v1/log/bundle?${new URLSearchParams(query)}`, out)
    const line = `${out}: the log of ${workspace().name}; verify it with \`${svc} verify ${shellWord(out)} --trust trust.policy\``
    return { lines: [line], json: { file: out } }
  },
}

const checkpoint: Subcommand = {
  call: 'checkpoint',
  description: 'print the keys of the log of your workspace, as lines for a trust policy, with their fingerprints',
  run: async ({ get }) => {
    const found = await get<LogCheckpoint>('/api/v1/log/checkpoint')
    return { lines: trustPolicyLines(found), json: found }
  },
}
