// What the change means, in the summary.
import { diffMarkdown, limited, markdownCode, markdownText } from '@svc/engine'
import type { Comparison } from '../change/compare.js'

const maxBytes = 200_000
const legend =
  'A policy that is **added** or **stricter** allows nothing that was blocked before. One that is **removed** or **looser** stops less than before: check that this is wanted. For **changed** neither is certain.'

export function changeParts(comparison: Comparison | null): string[] {
  if (comparison === null) return []
  const { base, report, left_out } = comparison
  const { texts, more } = limited(diffMarkdown(report).trimEnd().split('\n'), maxBytes)
  return [
    `## What changes, compared with ${markdownText(base.name)}`,
    `The base is the commit ${markdownCode(base.commit.slice(0, 12))}.${report.manifests.length > 0 ? ` ${legend}` : ''}`,
    texts.join('\n'),
    ...(more > 0 ? [`${counted(more)}: set \`json-file\` for all of them.`] : []),
    ...(left_out.length > 0
      ? [`Not compared, because the manifest has errors now or in the base: ${left_out.map(markdownCode).join(', ')}.`]
      : []),
  ]
}

function counted(lines: number): string {
  return lines === 1 ? '1 more line' : `${lines} more lines`
}
