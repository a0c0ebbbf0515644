// Annotations of a check run: each finding at its place, and the effect of a policy at its line.
import { annotationsOf, type Cause, onOneLine } from '@svc/engine'
import type { TaskFlip } from '@svc/platform'
import type { CheckFacts } from './facts.js'
import type { CheckAnnotation } from './parts.js'
import { counted, cut } from './words.js'

/** More of them make the changed files of a pull request unreadable; the summary has all findings. */
const maxAnnotations = 300
const maxTitle = 255
const maxMessage = 4000

/** The path of a file that GitHub can show. */
const maxPath = 4096

const levels = { error: 'failure', warning: 'warning', info: 'notice' } as const

export function checkAnnotations(facts: CheckFacts): CheckAnnotation[] {
  const findings = annotationsOf(facts.validation.findings).flatMap(({ severity, title, message, place }) =>
    place === undefined || place.file.length > maxPath
      ? []
      : [annotation(place.file, place.line, place.column, levels[severity], title, message)],
  )
  const order = (one: CheckAnnotation) => Object.values(levels).indexOf(one.annotation_level)
  return [...findings, ...flipAnnotations(facts)].sort((a, b) => order(a) - order(b)).slice(0, maxAnnotations)
}

function annotation(
  path: string,
  line: number,
  column: number | null,
  annotation_level: CheckAnnotation['annotation_level'],
  title: string,
  message: string,
): CheckAnnotation {
  const columns = column === null ? {} : { start_column: column, end_column: column }
  return {
    path,
    start_line: line,
    end_line: line,
    ...columns,
    annotation_level,
    title: cut(onOneLine(title), maxTitle - 1),
    message: cut(onOneLine(message), maxMessage),
  }
}

interface Effect {
  readonly cause: Cause
  readonly tasks: Set<string>
  readonly agents: Set<string>
  readonly first: TaskFlip
}

/** One annotation for each policy at the head that makes a listed task flip. */
function flipAnnotations({ impact, validation }: CheckFacts): CheckAnnotation[] {
  const files = new Set(validation.manifests.map(({ file }) => file))
  const effects = new Map<string, Effect>()
  for (const one of impact?.first_flips.listed ?? [])
    for (const cause of one.flip.policies) {
      if (cause.side !== 'new' || cause.line === null || !files.has(cause.manifest ?? '')) continue
      const key = `${cause.line} ${cause.manifest}`
      const effect = effects.get(key) ?? { cause, tasks: new Set(), agents: new Set(), first: one }
      effect.tasks.add(`${one.agent_key} ${one.flip.task_id} ${one.flip.run}`)
      effect.agents.add(one.agent_key)
      effects.set(key, effect)
    }
  const isCut = (impact?.first_flips.total ?? 0) > (impact?.first_flips.listed.length ?? 0)
  return [...effects.values()].map((effect) => effectAnnotation(effect, impact?.replayed_tasks ?? 0, isCut))
}

const verbs: Readonly<Record<string, string>> = {
  block: 'blocks',
  ask: 'asks a person in',
  warn: 'warns in',
  allow: 'allows',
}

function effectAnnotation({ cause, tasks, agents, first }: Effect, replayed: number, isCut: boolean): CheckAnnotation {
  const { flip } = first
  const step = flip.step === null ? 'its end' : `step ${flip.step}`
  const what = [flip.step_type, flip.verb, flip.step_name].flatMap((part) => part ?? []).join(' ')
  const least = isCut ? 'at least ' : ''
  const message = `Would ${wouldWords(flip.after)} ${least}${tasks.size} of ${counted(replayed, 'recorded task')} of ${counted(agents.size, 'agent')}; first: task ${cut(flip.task_id, 100)} of ${cut(first.agent_key, 100)}, ${step} (${cut(what, 200)}): ${cut(cause.reason, 500)}`
  const title = `${cut(cause.name, 150)} ${verbs[flip.after] ?? 'changes'} recorded tasks`
  return annotation(
    cause.manifest ?? '',
    cause.line ?? 1,
    null,
    flip.after === 'allow' ? 'warning' : 'notice',
    title,
    message,
  )
}

function wouldWords(outcome: string): string {
  return { block: 'block', ask: 'ask a person in', warn: 'warn in' }[outcome] ?? 'allow more in'
}
