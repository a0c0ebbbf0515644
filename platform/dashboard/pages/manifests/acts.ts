// Decisions about an assignment. Each form says what it does, and what the version changes, before the button is pressed.
import type { Assignment } from '@svc/schemas'
import { api, paths } from '../../paths.js'
import { type Html, hash, joined, nothing, text } from '../../views/html.js'
import { question } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { differenceOf } from './difference.js'

interface Decision {
  readonly title: string
  readonly button: string
  readonly effects: readonly (string | Html)[]
  /** The version that the form names. */
  readonly sha?: string
}

/** The form that the address names, for a person who may send it and in a state that allows it; null without one. */
export async function assignmentForm(visit: Visit, assignment: Assignment): Promise<Shown | null> {
  const { query, api: allowed } = visit
  const name = query.do ?? ''
  const decision = Object.hasOwn(decisions, name) ? decisions[name]?.(assignment, query.sha) : null
  if (decision == null || !allowed.may('post', api`/api/v1/assignments/${assignment.id}/approve`)) return null
  const { title, button, effects, sha = '' } = decision
  const compared = { ...visit, query: name === 'pin' ? { to: sha } : {} }
  const isCompared = ['approve', 'resync'].includes(name) || (name === 'pin' && sha !== assignment.manifest_sha)
  const asked = question(visit, {
    title: `${title}?`,
    effects,
    act: name,
    button,
    back: paths.assignment(assignment.id),
    fields: { sha, pin: assignment.pin === null ? 'task' : '' },
    isFinal: name === 'remove' || name === 'resync',
  })
  const difference = isCompared ? await differenceOf(compared, assignment) : nothing
  return {
    title: `Manifest ${assignment.manifest_name}`,
    place: 'manifests',
    content: joined([difference, asked], '').toHTML(),
  }
}

const decisions: Readonly<Record<string, (one: Assignment, sha: string | undefined) => Decision | null>> = {
  approve: ({ held_sha, agent_name, agent_key }) =>
    held_sha === null
      ? null
      : {
          title: 'Approve a version',
          button: 'Approve this version',
          sha: held_sha,
          effects: [
            joined([text('Puts the version'), hash(held_sha), text(`in force for ${agent_name || agent_key} only.`)]),
            'If the branch has another version by now, nothing is put in force.',
            'Its policies replace those of the version in force. The audit trail keeps that you approved it.',
          ],
        },
  resync: ({ pinned_sha }) =>
    pinned_sha !== null
      ? null
      : {
          title: 'Resync without guards',
          button: 'Resync without guards',
          effects: [
            'Reads the branch now and puts the version at its head in force, also one that removes protection.',
            'A version with errors is not put in force: the last valid policies stay.',
          ],
        },
  pin: ({ manifest_sha, pinned_sha }, sha = manifest_sha) =>
    pinned_sha !== null && sha === pinned_sha
      ? null
      : sha === manifest_sha
        ? {
            title: 'Pin the version in force',
            button: 'Pin this version',
            sha,
            effects: [
              joined([text('Keeps the version'), hash(sha), text('in force. Pushes to the branch change nothing.')]),
              'The assignment follows its branch again after it is unpinned.',
            ],
          }
        : {
            title: 'Roll back',
            button: 'Roll back to this version',
            sha,
            effects: [
              joined([text('Puts the version'), hash(sha), text('in force again and pins it.')]),
              'The version that is in force now does not return by itself: push another one, or resync.',
            ],
          },
  unpin: ({ pinned_sha }) =>
    pinned_sha === null
      ? null
      : {
          title: 'Unpin',
          button: 'Unpin',
          effects: [
            'The assignment follows its branch again: the branch is read now.',
            'A version that removes protection waits for an approval; others are put in force.',
          ],
        },
  tasks: ({ pin }) => ({
    title: 'Running tasks',
    button: pin === null ? 'Keep versions for running tasks' : 'Change running tasks at once',
    effects: [
      pin === null
        ? 'A running task keeps the version that it began with. New tasks get the version in force.'
        : 'A running task gets a new version as soon as it is in force.',
    ],
  }),
  remove: ({ agent_name, agent_key, policies }) => ({
    title: 'Remove the manifest',
    button: 'Remove the manifest from the agent',
    effects: [
      `Its ${policies === 1 ? 'policy ends' : `${policies} policies end`} at once for ${agent_name || agent_key}.`,
      'Without another enforced policy the agent is not governed.',
      'The log and the incidents stay. You can assign the manifest again.',
    ],
  }),
}

/** A change by a verb of the API; the body is made from the form. */
const post =
  (verb: string, sends: boolean): Act =>
  async ({ api: platform, params }, form) => {
    const sha = field(form, 'sha')
    const body = sends ? { ...(sha !== '' && { manifest_sha: sha }) } : undefined
    await platform.change('assignment', 'post', api`/api/v1/assignments/${params.id ?? ''}/${verb}`, body)
    return paths.assignment(params.id ?? '')
  }

const tasks: Act = async ({ api: platform, params }, form) => {
  const pin = field(form, 'pin') === 'task' ? 'task' : null
  await platform.change('assignment', 'patch', api`/api/v1/assignments/${params.id ?? ''}`, { pin })
  return paths.assignment(params.id ?? '')
}

const remove: Act = async ({ api: platform, params }) => {
  await platform.change(null, 'delete', api`/api/v1/assignments/${params.id ?? ''}`)
  return paths.manifests()
}

export const assignmentActs: Readonly<Record<string, Act>> = {
  approve: post('approve', true),
  pin: post('pin', true),
  resync: post('resync', false),
  unpin: post('unpin', false),
  tasks,
  remove,
}
