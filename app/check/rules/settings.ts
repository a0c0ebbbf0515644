// The settings of the check, which the file `.github/svc.yml` of the base branch makes.
import {
  type Finding,
  type FindingId,
  findingAt,
  lazyCheck,
  quotePath,
  readYaml,
  type SchemaProblem,
} from '@svc/engine/parts'
import { documents, type SvcSettings } from '@svc/schemas'
import { readText, type Tree } from '../changed-files.js'
import type { FollowedRepository, GithubReader } from '../parts.js'

export const settingsPath = '.github/svc.yml'

export interface Settings extends Required<Omit<SvcSettings, 'details'>> {
  /** Null: a private repository shows details. */
  readonly details: boolean | null
}

export const defaultSettings: Settings = { tests: 'if-present', agent_accounts: [], impact_days: 30, details: null }

export interface SettingsReading {
  readonly settings: Settings
  /** With one of these the defaults apply, and nothing is known about accounts of agents. */
  readonly findings: readonly Finding[]
}

const check = lazyCheck(documents['svc-settings'], 'yaml')

/** Settings there have no effect. */
export const misnamedPath = '.github/svc.yaml'

/** The settings of a tree: a file that is not text, and one with another name, are findings. Rejects with SourceError. */
export async function settingsOf(read: GithubReader['read'], tree: Tree): Promise<SettingsReading> {
  if (tree.has(misnamedPath)) return unreadable(misnamedPath, `has no effect: name it \`${settingsPath}\``)
  if (!tree.has(settingsPath)) return readSettings(null)
  const text = await readText(read, tree, settingsPath)
  return text === null ? unreadable(settingsPath, 'must be a file with text of at most 256 KiB') : readSettings(text)
}

function unreadable(file: string, problem: string): SettingsReading {
  const finding = findingAt('unreadable-file', `the file ${problem}`, { file, path: '', line: 1, column: 1 })
  return { settings: defaultSettings, findings: [finding] }
}

/** Why names of agents, tasks and steps are left out; null where they are shown. */
export function hiddenBy(
  { details }: Settings,
  visibility: FollowedRepository['visibility'],
): 'public' | 'setting' | null {
  if (details ?? visibility === 'private') return null
  return visibility === 'public' ? 'public' : 'setting'
}

/** Reads the text of the file; null for a branch without it. Never throws. */
export function readSettings(text: string | null): SettingsReading {
  if (text === null || isEmpty(text)) return { settings: defaultSettings, findings: [] }
  const { value, problems, positionOf } = readYaml(text)
  const unreadable = problems.map(({ id, message, ...at }) =>
    findingAt(id, message, { file: settingsPath, path: '', ...at }),
  )
  if (unreadable.length > 0) return { settings: defaultSettings, findings: unreadable }
  const wrong = check(value).map((problem) =>
    findingAt(idOf[problem.fault ?? 'value'], words(problem), {
      file: settingsPath,
      path: problem.path.join('.'),
      ...positionOf(problem.path, problem.at_key),
    }),
  )
  if (wrong.length > 0) return { settings: defaultSettings, findings: wrong }
  return { settings: { ...defaultSettings, ...(value as SvcSettings) }, findings: [] }
}

/** Comments only: a file in which every setting is commented out. */
function isEmpty(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(#|$)/.test(line))
}

const idOf: Readonly<Record<NonNullable<SchemaProblem['fault']>, FindingId>> = {
  missing: 'missing-key',
  unknown: 'unknown-key',
  type: 'wrong-type',
  value: 'wrong-value',
}

function words({ path, message, sentence }: SchemaProblem): string {
  const { subject, predicate } = sentence ?? { subject: path, predicate: message }
  return subject.length === 0 ? `the file ${predicate}` : `${quotePath(subject.join('.'))} ${predicate}`
}
