// The impact on recorded tasks, in the summary.
import { counted, impactMarkdown } from '@svc/engine/parts'
import type { Report } from './report.js'

const maxBytes = 150_000
/** Steps that are named. */
const maxSteps = 30

export function impactParts({ impact, comparison }: Report, address: string | null): string[] {
  if (impact === null) return []
  const { result, traces } = impact
  const { policies } = result
  const files = new Set(policies.map(({ manifest }) => manifest)).size
  const shown = {
    result,
    under: `${counted(policies.length, 'policy', 'policies')} of ${counted(files, 'manifest')}`,
    compared_with: comparison?.base.name ?? '',
    recorded_in: counted(traces.length, 'trace'),
    left_out: [],
    // Those of the whole summary.
    findings: [],
    commandFor: () => null,
  }
  return ['## Impact on recorded tasks', ...impactMarkdown(shown, { address, maxSteps, maxBytes })]
}
