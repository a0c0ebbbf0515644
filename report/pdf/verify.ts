// How a reader checks the report without trusting who made it; the words; the signatures.
import { paper, quiet } from '../charts/colours.js'
import type { Context } from './context.js'
import type { Block } from './engine.js'
import { ruleOf } from './marks.js'
import { textWidth } from './style.js'

export function verify({ pen, data }: Context): readonly Block[] {
  const { id } = data.report
  return [
    pen.h1('How to verify'),
    pen.prose(
      'The SHA-256 of this file is an entry of the log that it reports on. A bundle holds the records of the period, their proofs, and that entry. The commands run in a clone of the svc repository after “npm ci”. They verify the bundle offline and trust only the keys in “trust.policy”: ask the organization for the key fingerprint over another channel than this file, compare it with the one in the integrity statement, and delete the line of any key that differs.',
    ),
    steps(pen, [
      ['Log in to the platform.', 'npx --no-install svc login --url ADDRESS'],
      [
        'Write the keys of the log to a file, and compare their fingerprints.',
        'npx --no-install svc checkpoint > trust.policy',
      ],
      ['Fetch the bundle of this report.', `npx --no-install svc bundle --report ${id} --out bundle.zip`],
      [
        'Verify the log, and that this file is the one that was issued.',
        'npx --no-install svc verify bundle.zip --trust trust.policy --report FILE',
      ],
      [
        'Evaluate each step again, and compare the verdicts with the recorded ones.',
        'npx --no-install svc verify bundle.zip --trust trust.policy --rejudge',
      ],
      [
        'Make this report again without the platform, and compare its bytes with the issued ones.',
        'npx --no-install svc report --bundle bundle.zip --trust trust.policy --out again.pdf',
      ],
    ]),
    pen.prose(
      'Each command ends with exit code 0 only if everything agrees, and names what does not. The fourth one finds a single changed digit in this file.',
    ),
  ]
}

function steps(pen: Context['pen'], all: readonly (readonly [string, string])[]): Block {
  return {
    stack: all.map(([what, command], index) => ({
      stack: [
        pen.text(`${index + 1}. ${what}`, { style: 'prose', margin: [0, 0, 0, 3] }),
        {
          table: {
            widths: [textWidth - 24],
            body: [[{ ...pen.text(command, { mono: true, size: 7.8 }), fillColor: paper }]],
          },
          layout: 'command',
          margin: [12, 0, 0, 8],
        },
      ],
      unbreakable: true,
    })),
  }
}

const words: readonly (readonly [string, string])[] = [
  ['Agent', 'A program that uses a language model to act: it calls tools, sends messages, changes data.'],
  ['Step', 'One act of an agent, such as one call of a tool. A task is the sequence of steps of one job.'],
  [
    'Policy',
    'A rule that a step must keep. Enforced: a local engine blocks or reports the step, by the severity of the policy. Observed: it is only reported. The platform opens an incident for both.',
  ],
  ['Violation, incident', 'A policy that a step did not keep; the record of it that people review, resolve or ignore.'],
  [
    'Ungoverned',
    'A time in which nothing was enforced on an agent. Unknown: no engine reported, so policies may have been enforced or not.',
  ],
  [
    'Local engine',
    'The program beside an agent that evaluates a step before it runs, and blocks it if a policy says so.',
  ],
  ['Log', 'The list of everything that was recorded, in the order of arrival. Entries are added, never changed.'],
  ['Hash', 'A short fingerprint of data. Data that differs in one character has another fingerprint.'],
  ['Root', 'One hash over the hashes of all entries: it changes when any entry changes, is removed or is moved.'],
  ['Checkpoint', 'A signed statement of the size and the root of the log at one time.'],
  [
    'Cut-off',
    'The last entry of the log that counts in this report, which a checkpoint covers. Names and states are as of it.',
  ],
  ['Witness', 'An independent party that also signs a checkpoint, after it checked that the log only grew.'],
]

export function glossary({ pen }: Context): readonly Block[] {
  return [
    pen.h1('Words', 330),
    pen.table({
      columns: [
        { title: 'Word', width: 2.2 },
        { title: 'Meaning in this report', width: 7.8 },
      ],
      rows: words.map(([word, meaning]) => [pen.text(word, { style: 'cell', bold: true }), meaning]),
      empty: '',
    }),
  ]
}

export function signatures({ pen }: Context): readonly Block[] {
  const width = (textWidth - 30) / 2
  const field = (name: string) => ({
    stack: [ruleOf(width, quiet, 0.6), pen.text(name, { style: 'note', margin: [0, 2, 0, 0] })],
    margin: [0, 25, 0, 0],
  })
  const block = (title: string) => ({
    width,
    stack: [pen.text(title, { bold: true, size: 10 }), ...['Name', 'Role', 'Date', 'Signature'].map(field)],
  })
  return [
    {
      stack: [
        { ...pen.h1('Signatures'), needs: 0 },
        pen.prose(
          'The undersigned have read this report. The signature of a person states nothing about the record; the commands above do.',
        ),
        { columns: [block('For the organization'), block('Auditor')], columnGap: 30, margin: [0, 6, 0, 0] },
      ],
      unbreakable: true,
    },
  ]
}
