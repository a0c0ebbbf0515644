// Findings as SARIF 2.1.0, which code scanning and editors read (docs.oasis-open.org/sarif/sarif/v2.1.0).
import { createHash } from 'node:crypto'
import { onOneLine } from '../check/quote.js'
import { byPlace, type Finding } from './finding.js'
import type { FindingKind, Severity } from './kind.js'
import { findingKinds } from './kinds.js'

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

/** A log with one run. `version` is that of the program. Paths are relative to the root of the sources, or absolute. */
export function sarifOf(findings: readonly Finding[], version: string) {
  const fingerprintOf = newFingerprints()
  const driver = { name: 'svc', version, semanticVersion: version, rules: findingKinds.map(ruleOf) }
  const indexes = new Map(findingKinds.map(({ id }, index) => [id, index]))
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        // Columns count as JavaScript does.
        columnKind: 'utf16CodeUnits',
        results: findings.toSorted(byPlace).map((finding) => ({
          ruleId: finding.id,
          ruleIndex: indexes.get(finding.id) ?? -1,
          level: levels[finding.severity],
          message: { text: onOneLine(finding.message) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: locationOf(finding.file),
                region: { startLine: finding.line, startColumn: finding.column },
              },
            },
          ],
          partialFingerprints: { 'svcFinding/v1': fingerprintOf(finding) },
        })),
      },
    ],
  }
}

function ruleOf({ id, severity, title, why, remedy, wrong, right }: FindingKind) {
  const example = (head: string, text: string | undefined) =>
    text === undefined ? [] : [`${head}:\n\n\`\`\`yaml\n${text}\`\`\``]
  return {
    id,
    name: id.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: `${title}.` },
    fullDescription: { text: why },
    help: {
      text: `${why} What to do: ${remedy}`,
      markdown: [
        why,
        `**What to do.** ${remedy}`,
        ...example('With this finding', wrong),
        ...example('Without it', right),
      ].join('\n\n'),
    },
    defaultConfiguration: { level: levels[severity] },
  }
}

function locationOf(file: string) {
  const path = file.replaceAll('\\', '/').replace(/^(\.\/)+/, '')
  const uri = path.split('/').map(encoded).join('/')
  if (/^[A-Za-z]:\//.test(path)) return { uri: `file:///${path.slice(0, 2)}${uri.slice(uri.indexOf('/'))}` }
  return path.startsWith('/') ? { uri: `file://${uri}` } : { uri, uriBaseId: '%SRCROOT%' }
}

/** A lone surrogate has no encoding. */
function encoded(part: string): string {
  return encodeURIComponent(part.toWellFormed())
}

/**
 * The same finding keeps its fingerprint while lines and policies before it come and go: numbers of lines and indexes of lists
 * are left out, and equal findings of a file are numbered.
 */
function newFingerprints(): (finding: Finding) => string {
  const seen = new Map<string, number>()
  return ({ id, file, path, message }) => {
    const place = path.replace(/(?<=^|\.)\d+(?=\.|$)/g, '*')
    const words = message.replace(/\bline \d+/g, 'line').replace(/\[\d+\]/g, '[*]')
    const key = JSON.stringify([id, file, place, words])
    const ordinal = (seen.get(key) ?? 0) + 1
    seen.set(key, ordinal)
    return createHash('sha256').update(`${key} ${ordinal}`).digest('hex').slice(0, 32)
  }
}
