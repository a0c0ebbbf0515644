// The words of a report.
import type { Block } from '../pdf/engine.js'
import type { Context, Section } from './section.js'

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

export const glossary: Section = { pdf }

function pdf({ pen }: Context): readonly Block[] {
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
