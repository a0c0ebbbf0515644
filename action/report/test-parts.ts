// The failed tests of the summary.
import { counted, failedTestTexts, type ValidatedManifest } from '@svc/engine/parts'

const maxBytes = 150_000

export function testParts(manifests: readonly ValidatedManifest[], address: string | null): string[] {
  const { texts, more } = failedTestTexts(manifests, address, maxBytes)
  if (texts.length + more === 0) return []
  return [
    '## Failed tests',
    'The policies decide otherwise than the test expects: correct the policy, or the test if the decision is right.',
    ...texts,
    ...(more > 0 ? [`${counted(more, 'more failed test')}: set \`json-file\` for all of them.`] : []),
  ]
}
