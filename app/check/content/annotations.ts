// Annotations of a check run: each finding at its place, and the effect of a policy at its line.
import { annotationsOf, type Cause, counted, onOneLine, shortened, stepWords } from '@svc/engine/parts'
import type { TaskFlip } from '@svc/platform'
import { type CheckFacts, type PolicyPlace, placeOfPolicy } from '../facts.js'
import type { CheckAnnotation } from '../parts.js'
import { taskKind } from './verdict.js'

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
    title: shortened(onOneLine(title), maxTitle - 1),
    message: shortened(onOneLine(message), maxMessage),
  }
}

interface Effect {
  readonly place: PolicyPlace
  readonly cause: Cause
  readonly tasks: Set<string>
  readonly agents: Set<string>
  readonly first: TaskFlip
}

/** One annotation for each policy at the head that makes a listed task flip. */
function flipAnnotations(facts: CheckFacts): CheckAnnotation[] {
  const { impact } = facts
  const effects = new Map<string, Effect>()
  for (const one of impact?.first_flips.listed ?? [])
    for (const cause of one.flip.policies) {
      const place = placeOfPolicy(facts, cause.name, cause.manifest)
      if (place?.is_head !== true) continue
      const key = `${place.line} ${place.file}`
      const effect = effects.get(key) ?? { place, cause, tasks: new Set(), agents: new Set(), first: one }
      effect.tasks.add(`${one.agent_key} ${one.flip.task_id}`)
      effect.agents.add(one.agent_key)
      effects.set(key, effect)
    }
  const tasks = impact === null ? '' : counted(impact.tasks, `${taskKind(impact)} task`)
  const isCut = (impact?.first_flips.total ?? 0) > (impact?.first_flips.listed.length ?? 0)
  return [...effects.values()].map((effect) => effectAnnotation(effect, { tasks, isCut, facts }))
}

const ranks: readonly string[] = ['allow', 'warn', 'ask', 'block']
const verbs: Readonly<Record<string, string>> = {
  block: 'block',
  ask: 'ask a person in',
  warn: 'only warn in',
  allow: 'no longer stop',
}

function effectAnnotation(
  { place, cause, tasks, agents, first }: Effect,
  { tasks: replayed, isCut, facts }: { readonly tasks: string; readonly isCut: boolean; readonly facts: CheckFacts },
): CheckAnnotation {
  const { flip } = first
  const verb = verbs[flip.after] ?? 'change'
  const step = flip.step === null ? 'its end' : `step ${flip.step}`
  const number = `${isCut ? 'at least ' : ''}${tasks.size} of ${replayed} of ${counted(agents.size, 'agent')}`
  const example = `first: task ${shortened(flip.task_id, 100)} of ${shortened(first.agent_key, 100)}, ${step} (${shortened(stepWords(flip), 200)})`
  const isLooser = ranks.indexOf(flip.after) < ranks.indexOf(flip.before)
  const title = `${shortened(cause.name, 150)}: would ${verb} recorded tasks`
  const shown = facts.hidden === null ? `; ${example}: ${shortened(cause.reason, 500)}` : ''
  const message = `would ${verb} ${number}${shown}`
  return annotation(place.file, place.line, null, isLooser ? 'warning' : 'notice', title, message)
}
