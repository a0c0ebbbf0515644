// The pages of manifests: assignments with their versions, repositories, and files that are assigned to several agents.
import type { Assignment, AssignmentList, MadeAssignment, RegisteredAgent, Repository } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHost, startGitHost } from '../../support/git/git-host.js'
import { manifestPath as path, refunds } from '../../support/git/manifests-in-git.js'
import { actsIn, readable } from '../../support/people/page-reader.js'
import { hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'

let team: Team
let host: GitHost
let count = 0
beforeAll(async () => {
  host = await startGitHost()
  team = await startTeam()
})
afterAll(async () => {
  await team.close()
  host.close()
})

const strict = { name: 'Few steps', rule_type: 'execution_max_steps', severity: 'critical' }
const limit = (max_steps: number) => ({ ...strict, params: { step_type: 'step.model', max_steps } })

async function register(name = ''): Promise<string> {
  count += 1
  const body = { agent_key: `agent-${count}`, name: name || `Agent ${count}`, owner_id: 'mia', purpose: 'p' }
  return (await team.platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
}
function repository(files: Readonly<Record<string, string>>) {
  count += 1
  const made = host.add(`repository-${count}.git`)
  made.commit(files)
  return { made, url: `${host.url}/repository-${count}.git` }
}
async function connect(files: Readonly<Record<string, string>>) {
  const { made, url } = repository(files)
  const { body } = await team.platform.call<Repository>('POST', '/api/v1/repos', { body: { url, branch: 'main' } })
  return { made, url, id: body.id }
}
const read = async (id: number) => (await team.platform.call<Assignment>('GET', `/api/v1/assignments/${id}`)).body
const assigned = async (repo_id: number) =>
  (await team.platform.call<AssignmentList>('GET', `/api/v1/assignments?repo_id=${repo_id}`)).body.assignments
const shown = async (at: string, as?: Parameters<Team['look']>[1]) => readable((await team.look(at, as)).text)

/** An assignment whose next version a guard holds, because it is looser. */
async function held() {
  const { id: repo_id, made } = await connect({ [path]: refunds([{ name: 'one' }, limit(5)]) })
  const agent_id = await register()
  const body = { agent_id, repo_id, manifest_path: path }
  const { body: assignment } = await team.platform.call<MadeAssignment>('POST', '/api/v1/assignments', { body })
  made.commit({ [path]: refunds([{ name: 'one' }, limit(9)]) })
  await team.platform.call('POST', `/api/v1/repos/${repo_id}/resync`, { body: {} })
  const now = await read(assignment.id)
  expect(now.held_sha).not.toBeNull()
  return { ...now, at: `/manifests/assignments/${assignment.id}`, made, first: assignment.manifest_sha }
}

describe('the page of an assignment', () => {
  it('says what the version that waits changes, and approves it', async () => {
    const { id, at, agent_id, held_sha, manifest_sha } = await held()
    const page = await team.look(at)
    const words = readable(page.text)
    expect(words).toContain('Waits for an approval')
    expect(words).toContain('1 policy becomes looser.')
    expect(words).toMatch(/Few steps looser params\.max_steps 5 → 9 looser/)
    expect(words).not.toContain('svc approve-resync')
    expect(page.text).toContain(`href="/manifests/assignments/${id}/source?sha&#x3D;${manifest_sha}#L1"`)
    expect(await shown(`/manifests?held=true`)).toContain('a version waits for approval')
    const asked = await team.look(`${at}?do=approve`)
    expect(readable(asked.text)).toMatch(/1 policy becomes looser.*Approve a version\?.*in force for Agent \d+ only/)
    const other = await team.press(`${at}?do=approve`, { act: 'approve', sha: '0'.repeat(40) })
    expect([other.status, (await read(id)).manifest_sha]).toEqual([409, manifest_sha])
    const approved = await team.press(`${at}?do=approve`, { act: 'approve', sha: held_sha ?? '' }, 'member')
    expect([approved.status, approved.location]).toEqual([303, at])
    expect(await read(id)).toMatchObject({ manifest_sha: held_sha, held_sha: null, status: 'synced' })
    const { commit_sha } = await read(id)
    expect(await shown(`/agents/${agent_id}`)).toMatch(
      new RegExp(`${path} @ ${commit_sha?.slice(0, 12)}… text .* in step with the branch`),
    )
    expect(await shown(`/policies?agent_id=${agent_id}`)).toContain(`commit ${commit_sha?.slice(0, 7)}…`)
    expect(await shown(at)).toContain(`Manifest ${(await read(id)).manifest_name}`)
  })

  it('rolls back to an earlier version, and follows the branch again', async () => {
    const { id, at, first, held_sha } = await held()
    await team.platform.call('POST', `/api/v1/assignments/${id}/approve`, { body: {} })
    const versions = await team.look(at)
    expect(versions.text).toContain(`do&#x3D;pin&amp;sha&#x3D;${first}`)
    expect(await shown(`${at}?to=${first}`)).toContain('1 policy becomes stricter.')
    const pin = `${at}?do=pin&sha=${first}`
    expect(await shown(pin)).toMatch(/1 policy becomes stricter\..*Roll back\?/)
    expect((await team.press(pin, { act: 'pin', sha: first })).location).toBe(at)
    expect(await read(id)).toMatchObject({ manifest_sha: first, pinned_sha: first, rejected_shas: [held_sha] })
    const unpin = await team.press(`${at}?do=unpin`, { act: 'unpin' })
    expect([unpin.location, (await read(id)).pinned_sha]).toEqual([at, null])
    expect((await team.press(`${at}?do=unpin`, { act: 'unpin' })).status).toBe(409)
    expect((await team.press(`${at}?do=resync`, { act: 'resync' })).location).toBe(at)
    expect((await read(id)).manifest_sha).toBe(held_sha)
  })

  it('keeps versions for running tasks, and removes the manifest', async () => {
    const { id, at } = await held()
    await team.press(`${at}?do=tasks`, { act: 'tasks', pin: 'task' })
    expect((await read(id)).pin).toBe('task')
    expect(await shown(`${at}?do=remove`)).toContain('Its 2 policies end at once')
    const removed = await team.press(`${at}?do=remove`, { act: 'remove' })
    expect([removed.location, (await team.look(at)).status]).toEqual(['/manifests', 404])
  })

  it('says why a head with errors cannot be compared', async () => {
    const { id, at, made, repo_id } = await held()
    made.commit({ [path]: 'name: Refunds\npolicies: 5\n' })
    await team.platform.call('POST', `/api/v1/repos/${repo_id}/resync`, { body: {} })
    expect((await read(id)).held_sha).toBeNull()
    expect(await shown(at)).toMatch(/The manifest has errors.*The versions cannot be compared/)
  })

  it('has no buttons for an auditor, and is not found in another workspace', async () => {
    const { id, at, held_sha, manifest_sha } = await held()
    const { status, text } = await team.look(at, 'auditor')
    expect([status, text.includes('do&#x3D;'), actsIn(text)]).toEqual([200, false, []])
    for (const act of ['approve', 'pin', 'resync', 'tasks', 'remove']) {
      expect([act, actsIn((await team.look(`${at}?do=${act}`, 'auditor')).text)]).toEqual([act, []])
      const tried = await team.press(at, { act, sha: act === 'approve' ? (held_sha ?? '') : '' }, 'auditor')
      expect([act, tried.status]).toEqual([act, 403])
      expect([act, (await team.press(at, { act }, 'stranger')).status]).toEqual([act, 404])
    }
    for (const page of [at, `${at}/source`]) expect((await team.look(page, 'stranger')).status).toBe(404)
    expect((await read(id)).manifest_sha).toBe(manifest_sha)
  })
})

describe('the text of a version', () => {
  const yaml = `# ${hostile} \u202e
name: Refunds
version: "1"
policies:
  - name: Amounts are given
    rule_type: field_not_empty
    params: {field: input.amount}
    scope: step_execution
    severity: medium
`

  it('numbers its lines, links its policies, and shows hostile texts as texts', async () => {
    const { id: repo_id } = await connect({ [path]: yaml.replaceAll('\u202e', '') })
    const body = { agent_id: await register(hostile), repo_id, manifest_path: path }
    const { body: made } = await team.platform.call<MadeAssignment>('POST', '/api/v1/assignments', { body })
    const at = `/manifests/assignments/${made.id}`
    const { status, text } = await team.look(`${at}/source`)
    expect([status, injectedIn(text), text.includes('&lt;script&gt;')]).toEqual([200, [], true])
    expect(text).toMatch(/<li id="L5">.*- name: <\/bdi><a href="\/policies\/\d+"><bdi>Amounts are given<\/bdi><\/a>/)
    for (const page of [at, '/manifests', `/manifests/file?repo_id=${repo_id}&path=${path}`])
      expect([page, injectedIn((await team.look(page)).text)]).toEqual([page, []])
    expect((await team.look(`${at}/source?sha=${'0'.repeat(40)}`)).status).toBe(422)
    expect((await team.look(`${at}/source?sha=main`)).status).toBe(422)
  })
})

describe('the pages of repositories', () => {
  it('connect a branch, read it, show the secret of its webhook once, and disconnect it', async () => {
    const { url } = repository({ [path]: refunds([{ name: 'one' }]) })
    const at = '/manifests/repositories/connect'
    const wrong = await team.press(at, { act: 'connect', url: 'ftp://x', branch: 'main', token: 'sec-ret' }, 'admin')
    expect([wrong.status, wrong.text.includes('value="ftp://x"'), wrong.text.includes('sec-ret')]).toEqual([
      422,
      true,
      false,
    ])
    const made = await team.press(at, { act: 'connect', url, branch: 'main' }, 'admin')
    expect(made.location).toMatch(/^\/manifests\/repositories\/\d+$/)
    const page = made.location ?? ''
    expect(await shown(page)).toMatch(/main.*1 file.*no assignments/)
    expect(await shown('/manifests/repositories')).toContain(url)
    expect((await team.press(page, { act: 'resync' }, 'member')).location).toBe(page)
    const secret = await team.press(page, { act: 'webhook' }, 'admin')
    expect(readable(secret.text)).toContain('The secret is shown only now.')
    const value = /<dt>Secret<\/dt><dd>.*?<code>([^<]+)<\/code>/.exec(secret.text)?.[1] ?? ''
    expect([value.length > 20, (await team.look(page)).text.includes(value)]).toEqual([true, false])
    expect((await team.press(page, { act: 'token', token: 'not printable \u0007' })).status).toBe(422)
    expect((await team.press(`${page}?do=remove`, { act: 'remove' }, 'admin')).location).toBe('/manifests/repositories')
    expect((await team.look(page)).status).toBe(404)
  })

  it('keep a repository whose manifests are assigned', async () => {
    const { repo_id } = await held()
    const at = `/manifests/repositories/${repo_id}?do=remove`
    const { text } = await team.look(at)
    expect([readable(text).includes('remove the 1 assignment first'), actsIn(text)]).toEqual([true, []])
    expect((await team.press(at, { act: 'remove' })).status).toBe(409)
  })

  it('offer to members and auditors what they may do', async () => {
    const { id } = await connect({ [path]: refunds([{ name: 'one' }]) })
    const at = `/manifests/repositories/${id}`
    const acts = async (as: 'owner' | 'member' | 'auditor') => actsIn((await team.look(at, as)).text)
    expect([await acts('owner'), await acts('member'), await acts('auditor')]).toEqual([
      ['resync', 'webhook', 'token'],
      ['resync'],
      [],
    ])
    for (const act of ['webhook', 'token', 'remove'])
      expect([act, (await team.press(at, { act, token: 'x' }, 'member')).status]).toEqual([act, 403])
    expect(actsIn((await team.look('/manifests/repositories/connect', 'member')).text)).toEqual([])
    expect((await team.look(at, 'stranger')).status).toBe(404)
  })
})

describe('the page of a file', () => {
  it('assigns the manifest to several agents at once', async () => {
    const { id: repo_id } = await connect({ [path]: refunds([{ name: 'one' }]) })
    const agents = [await register(), await register()]
    const at = `/manifests/file?repo_id=${repo_id}&path=${path}`
    expect(await shown(`/manifests/files?repo_id=${repo_id}`)).toContain(path)
    const none = await team.press(at, { act: 'assign' })
    expect([none.status, readable(none.text)]).toEqual([422, expect.stringContaining('No agent is selected')])
    expect((await team.press(at, { act: 'assign', agent: agents }, 'auditor')).status).toBe(403)
    const done = await team.press(at, { act: 'assign', agent: agents, pin: 'task' }, 'member')
    expect([done.status, done.location]).toEqual([303, at])
    expect((await assigned(repo_id)).map(({ agent_id, pin }) => [agent_id, pin])).toEqual(
      agents.map((id) => [id, 'task']),
    )
    const { text } = await team.look(at)
    for (const id of agents) expect(text).not.toContain(`name="agent" value="${id}"`)
    const late = await register()
    const part = await team.press(at, { act: 'assign', agent: ['ag_unknown', late] })
    expect(readable(part.text)).toMatch(/Assigned to 1 of 2 agents.*ag_unknown/)
    expect(await assigned(repo_id)).toHaveLength(3)
  })

  it('shows what is wrong with a manifest, and does not offer it', async () => {
    const { id: repo_id } = await connect({ 'broken.yaml': 'name: x\npolicies:\n  - name: y\n    rule_type: z\n' })
    const at = `/manifests/file?repo_id=${repo_id}&path=broken.yaml`
    const { text } = await team.look(at)
    expect(readable(text)).toMatch(/error.*version is missing.*line 1.*cannot be assigned/)
    expect(actsIn(text)).toEqual([])
    expect(await shown('/manifests/files?valid=false')).toContain('broken.yaml')
    for (const gone of [`/manifests/file?repo_id=${repo_id}&path=other.yaml`, '/manifests/file?repo_id=x&path=y'])
      expect([gone, (await team.look(gone)).status]).toEqual([gone, 404])
    expect((await team.look(at, 'stranger')).status).toBe(404)
  })
})
