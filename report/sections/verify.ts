// The commands by which a reader checks the report without trusting who made it.
import { paper } from '../charts/colours.js'
import type { Block } from '../pdf/engine.js'
import { textWidth } from '../pdf/style.js'
import type { Context, Section } from './section.js'

export const verify: Section = { pdf }

function pdf({ pen, data }: Context): readonly Block[] {
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
