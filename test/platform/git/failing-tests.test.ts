// A version whose own tests fail waits for a person, wherever its tests are; files that cannot be parsed; spellings of paths.
import type { ManifestList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ManifestsInGit,
  refunds as manifest,
  openManifestsInGit,
  manifestPath as path,
} from '../../support/git/manifests-in-git.js'

let git: ManifestsInGit
beforeAll(async () => {
  git = await openManifestsInGit()
})
afterAll(() => git.close())

const [one, two] = [{ name: 'one' }, { name: 'two' }]
const step = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: {} }
const test = (violated: readonly string[]) => ({ name: 'a refund without an amount', step, expect: { violated } })
const withTests = (text: string, tests: readonly object[]) => JSON.stringify({ ...JSON.parse(text), tests })
const beside = (tests: readonly object[]) => JSON.stringify({ tests })
const besidePath = 'refunds.test.yaml'
const both = manifest([one, two])

const fails = ['the test `a refund without an amount` failed: violated, but not expected: `two`']
const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ['in the manifest', { [path]: withTests(both, [test(['one'])]) }, fails],
  ['beside the manifest', { [path]: both, [besidePath]: beside([test(['one'])]) }, fails],
  [
    'in two places, with the others counted',
    { [path]: withTests(both, [test(['one'])]), [besidePath]: beside([test([])]) },
    [...fails, '(and 1 more: run `svc test`)'],
  ],
  ['that name an unknown policy', { [path]: both, [besidePath]: beside([test(['three'])]) }, ['three']],
  ['in a file that cannot be read', { [path]: both, [besidePath]: 'tests: [' }, []],
  ['of which none is written', { [path]: withTests(both, []) }, ['the manifest has no test']],
]

describe('a pushed version with tests', () => {
  it.each(cases)('%s waits for an approval, which puts it in force', async (_, files, says) => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    repository.commit(files)
    await git.tick(id)
    const held = await git.read(made.id)
    expect(held).toMatchObject({
      status: 'out_of_sync',
      manifest_sha: made.manifest_sha,
      conditions: [{ kind: 'guard_tripped', reason: 'tests_failed' }],
    })
    for (const words of [...says, `svc approve-resync ${made.id}`]) expect(held.conditions[0]?.message).toContain(words)
    expect(await git.inForce(agent_id)).toEqual(['one'])
    const approved = await git.change(made.id, 'approve', { manifest_sha: held.held_sha })
    expect(approved.body).toMatchObject({ status: 'synced', manifest_sha: held.held_sha, conditions: [] })
    expect(await git.inForce(agent_id)).toEqual(['one', 'two'])
  })

  it('that pass is put in force', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    const passing = [test(['one', 'two'])]
    repository.commit({ [path]: withTests(both, passing), [besidePath]: beside(passing) })
    await git.tick(id)
    expect(await git.read(made.id)).toMatchObject({ status: 'synced', conditions: [] })
    expect(await git.inForce(agent_id)).toEqual(['one', 'two'])
  })

  it('that fail is not put on an agent', async () => {
    const { id } = await git.connect({ [path]: withTests(both, [test(['one'])]) })
    const { agent_id } = await git.register()
    const answer = await git.assign(agent_id, id)
    const { errors } = answer.body as unknown as Problem
    expect([answer.status, errors]).toEqual([422, [{ path: 'manifest_path', message: fails[0] }]])
    expect(await git.inForce(agent_id)).toEqual([])
  })
})

describe('a YAML file that cannot be parsed', () => {
  it('is listed with its fault, and other YAML files are not listed', async () => {
    const { id } = await git.connect({
      [path]: manifest([one]),
      'broken.yaml': 'name: Broken\nversion: "1\n',
      'deployment.yaml': 'kind: A\n---\nkind: B\n',
      'several.yaml': 'name: A\n---\nname: "B\n',
      'tags.yaml': 'a: !Ref b\n',
      'compose.yaml': 'services: {}\n',
    })
    const { body } = await git.platform.call<ManifestList>('GET', `/api/v1/repos/${id}/manifests`)
    expect(body.manifests.map((one) => [one.path, one.valid, one.findings.length > 0])).toEqual([
      ['broken.yaml', false, true],
      [path, true, false],
      ['several.yaml', false, true],
    ])
    expect(body.manifests.at(-1)?.findings.map(({ id }) => id)).toEqual(['yaml-quote'])
  })

  it.each([`./${path}`, `/${path}`, `.//./${path}`])(
    'does not matter to a manifest that is assigned by the path %s',
    async (manifest_path) => {
      const { id } = await git.connect({ [path]: manifest([one]) })
      const { agent_id } = await git.register()
      const made = await git.assign(agent_id, id, { manifest_path })
      expect([made.status, made.body.manifest_path]).toEqual([201, path])
      expect((await git.assign(agent_id, id)).status).toBe(409)
    },
  )
})
