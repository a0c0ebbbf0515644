// `svc verify --rejudge`: evaluates the steps of a verified bundle again.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { newSurvey, Rejudge, type Survey, surveyRecord } from '@svc/engine/parts'
import type { TrustPolicy } from '@svc/proof'
import { type Addition, type BundleReader, openBundle } from '@svc/proof/verify'
import type { RejudgeVerdict } from '@svc/schemas'
import { progressBar } from '../import/progress.js'
import type { TextStream } from '../terminal.js'
import { notRejudged, rejudgeHead, rejudgeLines } from './rejudge-text.js'

/** The verdict on the evaluations of a bundle. Rejects with BundleError when the file changed in the meantime. */
export async function rejudgeBundle(
  path: string,
  policy: TrustPolicy,
  is_valid: boolean,
  stderr: TextStream,
): Promise<Addition> {
  if (!is_valid) return { head: '', lines: [notRejudged], members: {}, holds: false }
  const bundle = await openBundle(path, policy)
  try {
    const rejudge = await rejudged(bundle, stderr)
    return {
      head: rejudgeHead(rejudge),
      lines: rejudgeLines(rejudge),
      members: { rejudge },
      holds: rejudge.equal !== false,
    }
  } finally {
    await bundle.close()
  }
}

async function rejudged(bundle: BundleReader, stderr: TextStream): Promise<RejudgeVerdict> {
  const rejudge = new Rejudge({
    survey: await surveyOf(bundle),
    bodyOf: await policySetsOf(bundle),
    first: bundle.manifest.entries.first,
  })
  for await (const entry of bundle.outside()) rejudge.addEarlier(entry)
  const { first, end } = bundle.manifest.entries
  const { tick, stop } = progressBar(stderr, end - first, 'entries')
  try {
    for await (const entry of bundle.entries()) {
      rejudge.add(entry)
      tick()
    }
  } finally {
    stop()
  }
  return rejudge.finish()
}

async function surveyOf(bundle: BundleReader): Promise<Survey> {
  const survey = newSurvey()
  for await (const { log_index, record } of bundle.records()) surveyRecord(survey, log_index, record)
  return survey
}

/** The texts of the policy sets, packed: those of many agents differ little and are long. */
async function policySetsOf(bundle: BundleReader): Promise<(digest: string) => string | null> {
  const packed = new Map<string, Buffer>()
  for await (const { digest, body } of bundle.policySets()) packed.set(digest, deflateRawSync(body))
  return (digest) => {
    const bytes = packed.get(digest)
    return bytes === undefined ? null : inflateRawSync(bytes).toString()
  }
}
