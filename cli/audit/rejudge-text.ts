// The verdict of an evaluation again, as rows of the verdict of `svc verify`.
import type { RejudgeReason } from '@svc/engine/parts'
import type { CommittedResult, RejudgeVerdict } from '@svc/schemas'

type Mismatch = RejudgeVerdict['mismatches'][number]

/** The reason why steps were not evaluated again, and what to do where something can be done. */
const reasons: Readonly<Record<RejudgeReason, string>> = {
  payload_erased: 'what they contain, or what an earlier step of their task contains, was erased',
  record_pruned: 'the entry was deleted after its retention; the archive of the platform holds it',
  task_began_earlier: 'their task began before the period: get a bundle with an earlier `--from`',
  agent_facts_unknown:
    'the log does not hold how the agent was registered: it was last changed under an earlier release',
  policy_set_missing: 'the bundle lacks their policies',
  policy_set_unreadable: 'their policies cannot be read',
  policy_unknown: 'this version of svc rejects one of their policies: use the version of the platform',
  reads_memory: 'they read notes that the agent wrote before the period: get a bundle with an earlier `--from`',
  over_limit: 'too many tasks ran at once, or their policies changed too often: get a bundle of a shorter period',
  step_unreadable: 'the step is not one that a platform accepts',
}

export const notRejudged = '  – verdicts   not evaluated again: the bundle is not valid'

/** Follows `valid` in the first line of the verdict. */
export function rejudgeHead({ steps, evaluated, mismatches, more_mismatches }: RejudgeVerdict): string {
  const count = mismatches.length + more_mismatches
  const share = evaluated === steps ? 'all verdicts' : `${evaluated} of ${counted(steps, 'verdict', 'verdicts')}`
  const again = steps === 0 ? '' : `, ${share} evaluated again`
  return count === 0
    ? again
    : `, but ${counted(count, 'recorded verdict is', 'recorded verdicts are')} NOT what the policies give`
}

export function rejudgeLines(verdict: RejudgeVerdict): string[] {
  const { others, mismatches, more_mismatches, engine, equal } = verdict
  const mark = equal === null ? '–' : equal ? '✓' : '✗'
  return [
    `  ${mark} verdicts   ${summary(verdict)}`,
    ...others.map(
      ({ reason, steps: count }) => `    ${counted(count, 'step', 'steps')} not evaluated again: ${reasons[reason]}`,
    ),
    ...mismatches.map(mismatchText),
    ...(more_mismatches > 0 ? [`  ✗ and ${more_mismatches} more`] : []),
    ...(equal !== false
      ? []
      : [
          `    Either these verdicts were recorded falsely, or the platform evaluated them with another version of the engine than ${engine}.`,
          '    Ask the operator which version the platform ran at that time, and run this command of that version.',
        ]),
  ]
}

function summary({ steps, evaluated, equal }: RejudgeVerdict): string {
  if (steps === 0) return 'no step in this period'
  const share = `${evaluated} of ${counted(steps, 'step', 'steps')} evaluated again (${shareOf(evaluated, steps)})`
  return equal ? `${share}: each policy gives the verdict that was recorded` : share
}

/** Never rounded up to 100%. */
function shareOf(part: number, whole: number): string {
  return part === whole ? '100%' : `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)}%`
}

function mismatchText({ log_index, agent_id, task_id, step, policy_id, policy, recorded, computed }: Mismatch): string {
  const where = `entry ${log_index}, task \`${brief(task_id)}\`, step ${step}, agent ${brief(agent_id)}`
  if (policy_id === null) return `  ✗ ${where}: the recorded list of verdicts is not one that a platform writes`
  const name = policy === null ? `policy ${policy_id}` : `policy \`${brief(policy)}\` (${policy_id})`
  return `  ✗ ${where}: ${name} was recorded as ${resultText(recorded)}; evaluated again it is ${resultText(computed)}`
}

function resultText(result: CommittedResult | null): string {
  if (result === null) return 'not one of the policies'
  const { violated, code, approved_by_step, version } = result
  const kind = violated ? `violated [${code}]` : 'not violated'
  const gate = approved_by_step === undefined ? '' : `, approved by step ${approved_by_step}`
  return `${kind}${gate}, version ${version}`
}

function brief(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ')
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}
