// What the GitHub Action says about a change: real repositories, clones and traces.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newWorkspace, runAction, temporary, type Workspace } from '../support/git/action.js'

const policy = (name: string, rest = '') =>
  `  - name: ${name}\n    rule_type: step_requires_gate\n    params: { target_step_names: [refund], max_age_steps: 3 }\n    scope: step_execution\n    severity: critical\n${rest}`
const manifest = (...policies: readonly string[]) => `name: Desk\nversion: "1.0.0"\npolicies:\n${policies.join('')}`
const old = manifest(policy('Refunds need a gate'), policy('Second'))
const inventory =
  'agents:\n  - { agent_key: refund-bot, name: "Refunds | <b>", manifests: [p/a.yaml] }\n  - { agent_key: other, manifests: [q.yaml] }\n'

/** A repository with the manifest, and the payload of a pull request on it. */
function repository(files: Readonly<Record<string, string>> = { 'p/a.yaml': old }) {
  const workspace = newWorkspace(files)
  const sha = workspace.commit()
  return { workspace, sha, event: { pull_request: { base: { sha, ref: 'main' } } } }
}

const counts = ({ outputs }: ReturnType<typeof runAction>) => [outputs.stricter, outputs.looser]

describe('a change', () => {
  it('is compared with the base of a pull request, for the agents of the inventory', () => {
    const { workspace, sha, event } = repository()
    const looser = manifest(policy('Refunds need a gate').replace('max_age_steps: 3', 'max_age_steps: 9'))
    workspace.write({
      'p/a.yaml': `${looser}${policy('Third').replace('[refund]', '[pay]')}`,
      'agents.yaml': inventory,
    })
    workspace.commit()
    const result = runAction(workspace, { paths: 'p', inventory: 'agents.yaml' }, { event })
    expect(result).toMatchObject({ code: 0, commands: [] })
    expect(counts(result)).toEqual(['1', '2'])
    expect(JSON.parse(result.outputs['affected-agents'] ?? '')).toEqual(['refund-bot'])
    expect(result.summary).toContain(
      `## What changes, compared with main\n\nThe base is the commit \`${sha.slice(0, 12)}\``,
    )
    expect(result.summary).toContain('**removed** | Second |')
    expect(result.summary).toContain('| `refund-bot` Refunds \\| \\<b\\> |')
  })

  it('of another tool is neither stricter nor looser, and counts as changed', () => {
    const { workspace, event } = repository()
    workspace.write({ 'p/a.yaml': manifest(policy('Refunds need a gate').replace('[refund]', '[rfund]')) })
    workspace.commit()
    const { outputs, summary } = runAction(workspace, { paths: 'p' }, { event })
    expect([outputs.stricter, outputs.changed]).toEqual(['0', '1'])
    expect(summary).toContain('The change: 1 policy is removed and 1 policy changes in a way that may be looser.')
  })

  it('does not include what the base got since', () => {
    const { workspace } = repository()
    workspace.git('checkout', '-q', '-b', 'topic')
    workspace.write({ 'p/b.yaml': manifest(policy('Topic')) })
    workspace.commit()
    workspace.git('checkout', '-q', 'main')
    workspace.write({ 'p/a.yaml': manifest(policy('Refunds need a gate')) })
    const sha = workspace.commit()
    workspace.git('checkout', '-q', 'topic')
    expect(counts(runAction(workspace, {}, { event: { pull_request: { base: { sha, ref: 'main' } } } }))).toEqual([
      '1',
      '0',
    ])
    expect(counts(runAction(workspace, { 'base-ref': 'main' }))).toEqual(['1', '0'])
  })

  it('follows a manifest that was moved, and reports one that was deleted', () => {
    const { workspace } = repository({ 'p/a.yaml': old, 'p/b.yaml': manifest(policy('B')).replace('Desk', 'B') })
    workspace.git('mv', 'p/a.yaml', 'p/moved.yaml')
    workspace.git('rm', '-q', 'p/b.yaml')
    workspace.commit()
    const result = runAction(workspace, { paths: 'p/*.yaml', 'base-ref': 'HEAD~1' })
    expect(counts(result)).toEqual(['0', '1'])
    expect(result.summary).toContain('manifest deleted')
  })

  it.each([
    { what: 'a removed policy', files: { 'p/a.yaml': manifest(policy('Second')) }, code: 1 },
    { what: 'an added policy', files: { 'p/a.yaml': old + policy('Third') }, code: 0 },
    {
      what: 'a deleted manifest of an agent',
      files: { 'p/a.yaml': null, 'p/b.yaml': old.replace('Desk', 'B') },
      code: 1,
    },
    {
      what: 'a manifest that cannot be compared',
      base: { 'p/a.yaml': 'policies: 1\n' },
      files: { 'p/a.yaml': old },
      code: 1,
    },
  ])('of $what ends with $code where `fail-on` is `looser`', ({ base, files, code }) => {
    const { workspace, event } = repository(base)
    const given: Readonly<Record<string, string | null>> = files
    for (const [path, text] of Object.entries({ 'agents.yaml': inventory, ...given })) {
      if (text === null) workspace.git('rm', '-q', path)
      else workspace.write({ [path]: text })
    }
    workspace.commit()
    const inputs = { paths: 'p', inventory: 'agents.yaml' }
    expect(runAction(workspace, { ...inputs, 'fail-on': 'looser' }, { event }).code).toBe(code)
    expect(runAction(workspace, inputs, { event }).code).toBe(0)
  })

  it('whose base is missing fails where `fail-on` is `looser`, and `base-ref: none` is a wrong input', () => {
    const { workspace } = repository()
    const event = { pull_request: { base: { sha: 'a'.repeat(40), ref: 'main' } } }
    expect(runAction(workspace, { 'fail-on': 'looser' }, { event })).toMatchObject({ code: 1 })
    expect(runAction(workspace, { 'fail-on': 'looser', 'base-ref': 'none' })).toMatchObject({ code: 2 })
  })

  it('that leaves an agent without a policy says so in the title', () => {
    const { workspace, event } = repository({ 'p/a.yaml': old, 'p/b.yaml': old.replace('Desk', 'B') })
    workspace.write({ 'agents.yaml': inventory })
    workspace.git('rm', '-q', 'p/a.yaml')
    workspace.commit()
    const { summary, outputs } = runAction(workspace, { paths: 'p', inventory: 'agents.yaml' }, { event })
    expect(summary.split('\n')[0]).toBe('# ⚠️ Policies: the manifests are valid; 1 agent would have no policy left')
    expect(JSON.parse(outputs['ungoverned-agents'] ?? '')).toEqual(['refund-bot'])
  })

  it('is not compared for a push, nor where the input says so', () => {
    const { workspace, event } = repository()
    for (const result of [runAction(workspace), runAction(workspace, { 'base-ref': 'none' }, { event })]) {
      expect(counts(result)).toEqual(['', ''])
      expect(result.outputs['affected-agents']).toBe('[]')
      expect(result.summary).not.toContain('What changes')
    }
  })

  it('leaves out a manifest with errors in the base', () => {
    const { workspace, event } = repository({ 'p/a.yaml': 'policies: 1\n' })
    workspace.write({ 'p/a.yaml': old })
    const result = runAction(workspace, {}, { event })
    expect(counts(result)).toEqual(['0', '0'])
    expect(result.summary).toContain('**Not compared, because of errors now or before: `p/a.yaml`**')
  })

  it('is found in a repository that is checked out into a folder', () => {
    const { workspace } = repository()
    const outer = { ...workspace, folder: join(workspace.folder, '..') }
    const name = workspace.folder.slice(outer.folder.length + 1)
    workspace.write({ 'p/a.yaml': manifest(policy('Second')) })
    expect(counts(runAction(outer, { paths: `${name}/p`, 'base-ref': 'HEAD' }))).toEqual(['0', '1'])
    expect(counts(runAction({ folder: join(workspace.folder, 'p') }, { 'base-ref': 'HEAD' }))).toEqual(['0', '1'])
  })
})

describe('a clone without the base', () => {
  const clone = ({ folder }: Workspace, ...options: readonly string[]) => {
    const target = newWorkspace({}, temporary())
    target.git('clone', '-q', ...options, `file://${folder}`, '.')
    return target
  }

  it('that is shallow gives a warning with the correction', () => {
    const { workspace, sha, event } = repository()
    workspace.write({ 'p/a.yaml': manifest(policy('Second')) })
    workspace.commit()
    const { code, commands, outputs } = runAction(clone(workspace, '--depth', '1'), {}, { event })
    expect({ code, commands }).toEqual({
      code: 0,
      commands: [
        '::warning title=The change was not compared::the clone does not hold `main`, because it is shallow: give `fetch-depth: 0` to the step that checks out',
      ],
    })
    expect(outputs.looser).toBe('')
    expect(sha).not.toBe('')
  })

  it('fetches nothing, also where a part of the files is missing', () => {
    const { workspace, event } = repository()
    workspace.git('config', 'uploadpack.allowFilter', 'true')
    workspace.write({ 'p/a.yaml': manifest(policy('Second')) })
    workspace.commit()
    const partial = clone(workspace, '--filter', 'blob:none')
    const { code, commands } = runAction(partial, {}, { event })
    expect(code).toBe(0)
    expect(commands.join()).toContain('does not hold the files of `main`: remove `filter`')
    expect(partial.git('rev-list', '--objects', '--all', '--missing=print')).toContain('?')
  })

  it('says so for a name that does not exist, and for a workspace without Git', () => {
    const { workspace } = repository()
    expect(runAction(workspace, { 'base-ref': 'v9' }).commands.join()).toContain('correct `base-ref`')
    const plain = newWorkspace({ 'a.yaml': old })
    expect(runAction(plain, { 'base-ref': 'main' }).commands.join()).toContain('git finds no repository')
  })
})

describe('the impact on recorded tasks', () => {
  const task = (task_id: string, ...steps: readonly string[]) =>
    ['task.start', ...steps, 'task.end']
      .map((step) => {
        const [step_type, step_name] = step.split(' ')
        const named = step_name === undefined ? {} : { verb: 'POST', step_name }
        return `${JSON.stringify({ task_id, step_type, ...named })}\n`
      })
      .join('')

  it('is shown against the base, step by step', () => {
    const { workspace, event } = repository({ 'p/a.yaml': manifest(policy('Refunds need a gate')) })
    const payments = policy('Payments need a gate').replace('[refund]', '[pay]')
    workspace.write({
      'p/a.yaml': manifest(policy('Refunds need a gate'), payments),
      'traces/one.jsonl': task('t-1', 'step.resource pay') + task('t-2', 'step.resource refund'),
    })
    const { code, summary } = runAction(workspace, { replay: 'traces/*.jsonl' }, { event })
    expect(code).toBe(0)
    expect(summary).toContain(
      'Compared with main: 1 of 2 recorded tasks would now be blocked; 1 step in 1 task changes**',
    )
    expect(summary).toMatch(
      /\| `t-1` \| 2: step.resource POST pay \| allowed → \*\*blocked\*\* \| \*\*Payments need a gate\*\*: /,
    )
    const alone = runAction(workspace, { replay: 'traces' })
    expect(alone.summary).toContain('**2 of 2 recorded tasks would be blocked**')
  })

  it('names the tasks that would now wait for a person', () => {
    const { workspace, event } = repository({ 'p/a.yaml': manifest(policy('Refunds need a gate')) })
    const asks = policy('Payments are approved', '    approval: { check_type: human_approval }\n')
    workspace.write({
      'p/a.yaml': manifest(policy('Refunds need a gate'), asks.replace('[refund]', '[pay]')),
      'traces/one.jsonl': task('t-1', 'step.resource pay') + task('t-2', 'step.resource refund'),
    })
    const { summary } = runAction(workspace, { replay: 'traces/*.jsonl' }, { event })
    expect(summary).toContain('1 of 2 recorded tasks would now wait for a person; ')
  })

  it('is left out where a manifest has errors', () => {
    const workspace = newWorkspace({ 'a.yaml': 'policies: 1\n', 't.jsonl': task('t') })
    const { code, commands, summary } = runAction(workspace, { replay: 't.jsonl' })
    expect(code).toBe(1)
    expect(commands.join()).toContain('::warning title=The traces were not replayed::')
    expect(summary).not.toContain('Impact')
  })
})
