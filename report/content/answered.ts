// The answer to "Who answered?" on page 1: incidents and approvals.
import { are, count, counted, duration, joined, listed, sentence, some } from './figures.js'
import type { ReportData } from './report-data.js'
import { erasedSteps, type Summary } from './summary-data.js'

export function answered({ summary, incidents }: ReportData): string {
  const { incidents_opened: opened, incidents_unanswered, incidents_open: open } = summary
  const unanswered = incidents_unanswered + summary.incidents_unanswered_earlier
  const actors = [...new Set(incidents.list.rows.flatMap(({ history }) => history.map(({ by }) => by)))]
  const least = incidents.list.more > 0 ? 'at least ' : ''
  const who = actors.length === 0 ? '' : ` by ${least}${answerers(actors)}`
  const first = incidents.time_to_review.median_seconds
  const number = opened - incidents_unanswered
  const which =
    number === opened && opened > 1
      ? `All ${count(opened)} incidents`
      : `${sentence(some(number))} of ${counted(opened, 'incident')}`
  const incident =
    opened === 0
      ? open === 0
        ? 'No incident asked for an answer.'
        : ''
      : `${which} ${are(Math.max(1, number), 'was', 'were')} answered${number === 0 ? '' : who}.`
  const speed = first === null ? '' : `Half of the first reviews came within ${duration(first)}.`
  return joined(incident, speed, withoutEnd(summary, unanswered), approvals(summary))
}

/** The incidents without an answer, and those from before the period that have no end. */
function withoutEnd({ incidents_open: open, incidents_open_earlier: earlier }: Summary, unanswered: number): string {
  const none = `${sentence(counted(unanswered, 'incident'))} ${are(unanswered, 'has', 'have')} no answer.`
  const all = `At the cut-off, ${counted(open, 'incident')} ${are(open, 'was', 'were')} open or active, ${count(earlier)} of them from before the period.`
  return joined(unanswered === 0 ? '' : none, earlier === 0 ? '' : all)
}

/** Actors are `person:ID`, `api_key:ID`, `system:NAME` and others. The system resolves what an approved step settles. */
function answerers(actors: readonly string[]): string {
  const people = actors.filter((actor) => actor.startsWith('person:')).length
  const has_system = actors.some((actor) => actor.startsWith('system:'))
  const programs = actors.filter((actor) => !/^(person|system):/.test(actor)).length
  return listed([
    ...(people === 0 ? [] : [counted(people, 'person', 'people')]),
    ...(programs === 0 ? [] : [counted(programs, 'program')]),
    ...(has_system ? ['steps that were approved later'] : []),
  ])
}

function approvals({ approvals_asked: asked, approvals_given: given, ...summary }: Summary): string {
  const { approvals_missing: missing, approvals_blocked: blocked, approvals_erased: erased, gates_erased } = summary
  const unread = erased === 0 ? '' : `; ${count(erased)} cannot be read: erased`
  const gates =
    gates_erased === 0
      ? ''
      : `${sentence(counted(gates_erased, 'gate'))} ${are(gates_erased, 'was', 'were')} erased, which may have approved steps.`
  const isKnown = gates_erased === 0 && erasedSteps(summary) === 0
  if (asked === 0)
    return joined(
      isKnown ? 'No policy asked for an approval.' : 'No policy is known to have asked for an approval.',
      gates,
    )
  const stopped =
    blocked === 0
      ? ''
      : `; ${counted(blocked, 'step')} ${are(blocked, 'was', 'were')} stopped before ${are(blocked, 'it', 'they')} ran`
  const rest = missing === 0 ? '' : `; ${counted(missing, 'step')} ${are(missing, 'was', 'were')} recorded without one`
  const none = erased + gates_erased === 0 ? 'none was' : 'none is known to have been'
  const outcome = given === 0 ? none : asked === 1 ? 'it was' : given === 1 ? 'one was' : `${count(given)} were`
  const did = isKnown ? 'asked' : 'are known to have asked'
  return joined(
    `Policies ${did} for an approval of ${counted(asked, 'step')}: ${outcome} given${stopped}${rest}${unread}.`,
    gates,
  )
}
