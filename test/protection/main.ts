// `npm run protection`: plays the corpus under the baseline and the manifests of its domains, and prints the figures.
import { readFileSync } from 'node:fs'
import { domainNames, readDomain } from './corpus.js'
import { type Configuration, type Figures, type Measured, measure, type Share } from './measure.js'

const folder = new URL(import.meta.url.includes('/test/dist/') ? '../../protection/' : './', import.meta.url)

/** The manifest of each domain, as a compliance officer wrote it. */
function manifests(domains: readonly Measured[]) {
  return Object.fromEntries(
    domains.map(({ name }) => [
      name,
      { path: `${name}/manifest.yaml`, text: readFileSync(new URL(`${name}/manifest.yaml`, folder), 'utf8') },
    ]),
  )
}

/** What is measured, from what every agent gets to what a team writes. */
export function configurations(domains: readonly Measured[]): Configuration[] {
  const own = manifests(domains)
  return [
    { name: 'baseline', manifests: ['baseline'], tools_per_task: false },
    { name: 'baseline, tools per task', manifests: ['baseline'], tools_per_task: true },
    { name: 'manifest of the domain', manifests: [own], tools_per_task: false },
    { name: 'manifest of the domain, tools per task', manifests: [own, 'baseline'], tools_per_task: true },
  ]
}

/** Plays the whole corpus, which takes less than a minute. */
export async function measureCorpus(): Promise<Figures[]> {
  const domains = domainNames().map(readDomain)
  return measure(domains, configurations(domains))
}

const shown = ({ count, percent }: Share) => `${count} (${percent.toFixed(1)} %)`

const columns: readonly (readonly [title: string, cell: (figures: Figures) => string])[] = [
  ['in effect', ({ name }) => name],
  ['honest blocked', ({ honest }) => shown(honest.blocked)],
  ['honest asked', ({ honest }) => shown(honest.asked)],
  ['worst policy', ({ honest }) => (honest.worst === null ? 'none' : shown(honest.worst.violated))],
  ['attacks stopped', ({ attacks }) => shown(attacks.stopped.all)],
  ['plain', ({ attacks }) => shown(attacks.stopped.plain)],
  ['evasive', ({ attacks }) => shown(attacks.stopped.evasive)],
  ['attacks reported', ({ attacks }) => shown(attacks.reported)],
]

/** The figures as a table in Markdown. */
export function tableOf(figures: readonly Figures[]): string {
  const rows = [columns.map(([title]) => title), columns.map(() => '---')]
  for (const one of figures) rows.push(columns.map(([, cell]) => cell(one)))
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

if (process.argv[1]?.endsWith('/protection/main.js')) {
  const figures = await measureCorpus()
  console.log(tableOf(figures))
}
