// `svc attack-demo`: every attack is done before somebody's eyes, and the table says what each kind of auditor made of it.
import type { Writable } from 'node:stream'
import { type Attack, type Judged, judged, type Layer, layers, type Outcome } from './attack.js'
import { onContents } from './on-contents.js'
import { onEntries } from './on-entries.js'
import { newWorld } from './world.js'

export const attacks: readonly Attack[] = [...onEntries, ...onContents]

export interface Row {
  readonly attack: Attack
  readonly judged: Readonly<Record<Layer, Judged>>
  readonly as_stated: boolean
}

/** Does every attack, each on a log of its own. */
export async function* rows(): AsyncIterable<Row> {
  for (const attack of attacks) {
    const result = await judged(attack, newWorld())
    yield {
      attack,
      judged: result,
      as_stated: layers.every((layer) => result[layer].outcome === attack.expected[layer]),
    }
  }
}

const marks: Readonly<Record<Outcome, string>> = {
  found: '✓ found',
  withstood: '✓ withstood',
  'not found': '✗ not found',
  none: '–',
}

/** Returns the exit code: 1 when an attack came out otherwise than is stated. */
export async function runDemo(out: Writable): Promise<0 | 1> {
  const name = Math.max(...attacks.map((attack) => attack.name.length))
  const line = (cells: readonly string[]) =>
    `${cells[0]?.padEnd(name)}  ${cells
      .slice(1)
      .map((cell) => cell.padEnd(13))
      .join(' ')}`.trimEnd()
  out.write(`${line(['attack', 'chain only', '+ checkpoints', '+ witness'])}\n`)
  let surprises = 0
  let count = 0
  for await (const row of rows()) {
    count += 1
    if (!row.as_stated) surprises += 1
    const outcomes = layers.map((layer) => marks[row.judged[layer].outcome])
    out.write(`${line([row.attack.name, ...outcomes])}${row.as_stated ? '' : '  ← not as stated'}\n`)
  }
  out.write(`\n${count} attacks, ${count - surprises} as stated in docs/attacks.md\n`)
  return surprises === 0 ? 0 : 1
}

/** The table as Markdown: docs/attacks.md is this. */
export async function attackTable(): Promise<string> {
  const lines = []
  for await (const { attack, judged: result } of rows()) {
    const cells = layers.map((layer) => marks[result[layer].outcome])
    const codes = result.witness.outcome === 'found' ? result.witness.codes.map((code) => `\`${code}\``).join(', ') : ''
    lines.push(`| **${attack.name}**: ${attack.what} | ${attack.with} | ${cells.join(' | ')} | ${codes} |`)
  }
  return `# Attacks on the log, and who notices

Written by \`npm run generate\` from a run of \`svc attack-demo\`, which does each of these before your eyes.

- **chain only**: the auditor walks the hash chain of each task as it is stored.
- **+ checkpoints**: the auditor also verifies a bundle with the log's key, and keeps the checkpoint of each bundle. The signer's
  key and memory stand outside the database, and it refuses what is not how the signed log went on (\`log.fork_refused\`).
- **+ witness**: the auditor's trust policy also asks for the signature of a witness.

| attack | who can | chain only | + checkpoints | + witness | what is seen |
|---|---|---|---|---|---|
${lines.join('\n')}

What nobody notices: an entry that is rewritten before the next checkpoint, seconds after it was taken in. Whoever sent it was
answered with its hash, and a bundle shows whether that hash is in the log.
`
}
