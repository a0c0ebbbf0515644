// Changes of what is checked, and how strictly: waivers, modes, tests, settings, owners, workflows.
import { type DiffReport, type FileDiff, type ManifestTest, quote, type ValidatedManifest } from '@svc/engine/parts'
import type { CheckedChange } from '../facts.js'
import { codeownersPaths } from './codeowners.js'
import type { Loosening } from './loosening.js'
import { settingsPath } from './settings.js'

export function checkedChanges(
  diff: DiffReport,
  manifests: { readonly old: readonly ValidatedManifest[]; readonly next: readonly ValidatedManifest[] },
  paths: readonly string[],
): CheckedChange[] {
  return [
    ...diff.manifests.flatMap((one) => [...waivers(one), ...modes(one)]),
    ...tests(manifests),
    ...guardingFiles(paths),
  ]
}

function waivers({ path, waivers: changes }: FileDiff): CheckedChange[] {
  return changes.map(({ policy, agent_key, old, new: next }) => {
    const what =
      next === undefined
        ? `ends (it was until ${old})`
        : old === undefined
          ? `is added, until ${next}`
          : `is until ${next} (was ${old})`
    return { path, what: `the waiver of ${quote(policy)} for ${quote(agent_key)} ${what}` }
  })
}

function modes({ path, policies }: FileDiff): CheckedChange[] {
  return policies.flatMap(({ name, members }) =>
    members
      .filter((member) => member.path === 'mode')
      .map((member) => ({
        path,
        what: `${quote(name)} is changed to ${member.new === 'observe' ? 'observe only' : 'enforce'}`,
      })),
  )
}

function tests({
  old,
  next,
}: {
  readonly old: readonly ValidatedManifest[]
  readonly next: readonly ValidatedManifest[]
}): CheckedChange[] {
  const before = new Map(old.map(({ file, value }) => [file, value?.tests ?? []]))
  return next.flatMap(({ file, value }) => {
    const was = before.get(file)
    if (was === undefined || value === null) return []
    const what = testWords(was, value.tests ?? [])
    return what === null ? [] : [{ path: file, what }]
  })
}

function testWords(old: readonly ManifestTest[], next: readonly ManifestTest[]): string | null {
  const [before, after] = [old, next].map((list) => new Map(list.map((test) => [test.name, JSON.stringify(test)])))
  if (before === undefined || after === undefined) return null
  const added = [...after.keys()].filter((name) => !before.has(name)).length
  const removed = [...before.keys()].filter((name) => !after.has(name)).length
  const rewritten = [...after].filter(([name, text]) => before.has(name) && before.get(name) !== text).length
  const words = [
    [added, 'added'],
    [removed, 'removed'],
    [rewritten, 'rewritten'],
  ] as const
  const found = words.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return found.length === 0 ? null : `tests: ${found.join(', ')}`
}

/** The files that govern the check itself; workflows, because they may run the same check as an action. */
function guardingFiles(paths: readonly string[]): CheckedChange[] {
  return paths.flatMap((path) => {
    if (path === settingsPath) return [{ path, what: 'the settings of this check change' }]
    if (isCodeowners(path)) return [{ path, what: 'the owners of paths change' }]
    return /^\.github\/workflows\/[^/]+\.ya?ml$/i.test(path) ? [{ path, what: 'a workflow changes' }] : []
  })
}

function isCodeowners(path: string): boolean {
  return codeownersPaths.some((one) => one === path)
}

/** A change of the settings or owners of the next check: a step towards a loosening. */
export function guardingLoosenings(paths: readonly string[]): Loosening[] {
  return paths
    .filter((path) => path === settingsPath || isCodeowners(path))
    .map((path) => ({ path, what: 'it changes who must approve a loosening', is_certain: false }))
}
