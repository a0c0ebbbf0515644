// The effect of the change, in the summary.
import { changeLegend, counted, diffMarkdown, limited, markdownCode, markdownText } from '@svc/engine/parts'
import type { Comparison } from '../change/compare.js'

const maxBytes = 200_000

export function changeParts(comparison: Comparison | null): string[] {
  if (comparison === null) return []
  const { base, report, left_out } = comparison
  const { texts, more } = limited(diffMarkdown(report, left_out).trimEnd().split('\n'), maxBytes)
  return [
    `## What changes, compared with ${markdownText(base.name)}`,
    `The base is the commit ${markdownCode(base.commit.slice(0, 12))}.${report.manifests.length > 0 ? ` ${changeLegend}` : ''}`,
    texts.join('\n'),
    ...(more > 0 ? [`${counted(more, 'more line')}: set \`json-file\` for all of them.`] : []),
  ]
}
