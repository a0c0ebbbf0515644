// `svc assign-manifest`, `svc list-assignments`, `svc unassign-manifest`: which manifests an agent has.
import type { Assignment, AssignmentList, MadeAssignment } from '@svc/schemas'
import { agentKeys, agentOf } from '../account/agent-names.js'
import { allRows } from '../account/all-rows.js'
import type { Client } from '../account/client.js'
import { indented } from '../account/columns.js'
import { done, type Output } from '../account/subcommand.js'
import { UsageError } from '../errors.js'
import { assignmentNotes, assignmentTable, policiesText } from './assignment-text.js'
import { type GitSubcommand, idOf, readingTimeoutMs } from './git-subcommand.js'

const agentOption = ['--agent-id <agent>', 'id or key of the agent'] as const

export const assignmentSubcommands: readonly GitSubcommand[] = [
  {
    call: 'list-assignments',
    description: 'list the manifests that agents have, with what holds a version back',
    options: [agentOption],
    examples: ['list-assignments --agent-id support'],
    run: listAssignments,
  },
  {
    call: 'assign-manifest',
    description: 'put the manifest at the head of a branch on an agent; without --repo-id the baseline',
    options: [
      agentOption,
      ['--repo-id <id>', 'repository of the manifest, or `baseline`', 'baseline'],
      ['--manifest <path>', 'path of the manifest in the repository'],
      ['--pin <what>', 'task: a running task keeps the version that it began with'],
    ],
    required: ['agent-id'],
    choices: { pin: ['task'] },
    examples: [
      'assign-manifest --agent-id support --repo-id 2 --manifest refunds.yaml',
      'assign-manifest --agent-id support',
    ],
    run: assignManifest,
  },
  {
    call: 'unassign-manifest <id>',
    description: 'remove an assignment; its policies end at once',
    examples: ['unassign-manifest 4'],
    run: async ({ remove }, [text = '']) => {
      const id = idOf('the id of the assignment', text)
      await remove(`/api/v1/assignments/${id}`)
      return done(`assignment ${id} is removed, and its policies have ended`)
    },
  },
]

type Options = Readonly<Record<string, string>>

async function listAssignments(client: Client, _args: readonly string[], { agentId }: Options): Promise<Output> {
  const query = agentId === undefined ? {} : { agent_id: (await agentOf(client, agentId)).agent_id }
  const assignments = await allRows<Assignment>(client, '/api/v1/assignments', 'assignments', query)
  const json: AssignmentList = { assignments, total: assignments.length, next_cursor: null }
  return { lines: assignmentTable(client, assignments, await agentKeys(client)), json }
}

async function assignManifest(client: Client, _args: readonly string[], options: Options): Promise<Output> {
  const { agentId = '', repoId = 'baseline', manifest, pin } = options
  const repo_id = repoId === 'baseline' ? null : idOf('`--repo-id`', repoId)
  if (repo_id !== null && manifest === undefined)
    throw new UsageError(
      `name the manifest with \`--manifest PATH\`: \`svc list-manifests --repo-id ${repo_id}\` lists them`,
    )
  const { agent_id, agent_key } = await agentOf(client, agentId)
  const request = { agent_id, repo_id, ...(manifest !== undefined && { manifest_path: manifest }), pin: pin ?? null }
  const made = await client.post<MadeAssignment>('/api/v1/assignments', request, readingTimeoutMs)
  const source = made.repo_id === null ? 'the baseline' : `repository ${made.repo_id}`
  const heading = `assignment ${made.id}: \`${agent_key}\` has \`${made.manifest_path}\` of ${source}`
  const names = made.policies.map(({ name }) => `  ${name}`)
  const count = `${policiesText(names.length)} in force, of version ${made.manifest_sha}:`
  return {
    lines: [heading, count, ...names, ...assignmentNotes(made).flatMap((note) => indented(client.svc, note))],
    json: made,
  }
}
