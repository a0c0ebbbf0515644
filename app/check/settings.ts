// The settings of the check, which the file `.github/svc.yml` of the base branch makes.
import {
  type Finding,
  type FindingId,
  findingAt,
  lazyCheck,
  quotePath,
  readYaml,
  type SchemaProblem,
} from '@svc/engine'
import { documents, type SvcSettings } from '@svc/schemas'

export const settingsPath = '.github/svc.yml'

export type Settings = Required<SvcSettings>

export const defaultSettings: Settings = { tests: 'if-present', agent_accounts: [], impact_days: 30 }

export interface SettingsReading {
  readonly settings: Settings
  /** With one of these the defaults apply. */
  readonly findings: readonly Finding[]
}

const check = lazyCheck(documents['svc-settings'], 'yaml')

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
