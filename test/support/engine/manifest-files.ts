// Files that random histories push: valid manifests, weaker ones, and everything that cannot be used as a manifest.
import { gitSha } from '../git/branch-hosts.js'
import type { Files } from '../git/github.js'
import type { WrittenVersion } from './manifest-model.js'
import { pick, type Random } from './policy-pairs.js'

export interface WrittenFile extends WrittenVersion {
  readonly file: Files[string]
}

const broken: readonly ((number: number) => Files[string])[] = [
  (number) => `policies: [ # ${number}`,
  (number) => JSON.stringify({ name: 'Desk', version: String(number), policies: [{ name: 'p0', rule_type: 'nope' }] }),
  (number) => `version https://git-lfs.github.com/spec/v1\noid sha256:${String(number).padStart(64, '0')}\nsize 9\n`,
  (number) => ({ mode: '120000', content: `other-${number}.yaml` }),
  (number) => `# ${number} ${'x'.repeat(256 * 1024)}`,
  (number) => ({ mode: '100644', content: Buffer.from([0xff, 0xfe, number % 256, number >> 8]) }),
]

/** A new version; each number is used once. */
export function writtenFile(random: Random, number: number, isUsable = random() < 0.75): WrittenFile {
  if (!isUsable) return versionOf(pick(random, broken)(number), number, null, false, false)
  const count = pick(random, [1, 3, 3, 3, 4])
  const [isCritical, isObserved] = [random() < 0.7, random() < 0.1]
  const policies = Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    description: `version ${number}`,
    rule_type: 'field_not_empty',
    params: { field: `input.f${index}`, target_step_names: ['refund'] },
    scope: 'step_execution',
    severity: index === 0 && isCritical ? 'critical' : 'medium',
    ...(index === 0 && isObserved && { mode: 'observe' }),
  }))
  const text = JSON.stringify({ name: 'Desk', version: String(number), policies })
  return versionOf(text, number, count, isCritical, isObserved)
}

function versionOf(
  file: Files[string],
  number: number,
  policies: number | null,
  isCritical: boolean,
  isObserved: boolean,
): WrittenFile {
  const content = typeof file === 'string' ? file : (file.content as string)
  const blob_sha = gitSha('blob', Buffer.from(content))
  return { file, blob_sha, number, policies, isCritical, isObserved }
}
