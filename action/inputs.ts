// The inputs of the action, from the variables that the runner sets.
import { isAbsolute, posix, relative } from 'node:path'
import { quote } from '@svc/engine/parts'
import { UsageError } from './usage-error.js'

/** The value of each input that is empty or missing; action.yml gives the same. */
export const defaults = {
  paths: '.',
  strict: 'false',
  tests: 'if-present',
  'fail-on': 'error',
  'base-ref': '',
  inventory: '',
  replay: '',
  annotations: 'true',
  'sarif-file': '',
  'json-file': '',
  summary: 'true',
} as const

type InputName = keyof typeof defaults

const testModes = ['off', 'if-present', 'required'] as const
const failures = ['error', 'warning', 'looser', 'never'] as const

export type Environment = Readonly<Record<string, string | undefined>>

export interface Inputs {
  /** Relative to the workspace, with `/`, as are the other paths. */
  readonly paths: readonly string[]
  readonly strict: boolean
  readonly tests: (typeof testModes)[number]
  readonly fail_on: (typeof failures)[number]
  /** Empty: that of the event. */
  readonly base_ref: string
  readonly inventory: string | null
  readonly replay: readonly string[]
  readonly annotations: boolean
  /** May be outside of the workspace. */
  readonly sarif_file: string | null
  readonly json_file: string | null
  readonly summary: boolean
}

/** Reads and checks all inputs. Throws UsageError with one line for each that is wrong. */
export function readInputs(env: Environment, workspace: string): Inputs {
  const problems: string[] = []
  const text = (name: InputName) => {
    const value = (env[`INPUT_${name.toUpperCase()}`] ?? '').trim()
    return value === '' ? defaults[name] : value
  }
  const oneOf = <T extends string>(name: InputName, values: readonly T[]): T => {
    const found = values.find((value) => value === text(name))
    if (found === undefined)
      problems.push(`\`${name}\` must be ${values.map(quote).join(' or ')}, found ${quote(text(name))}`)
    return found ?? (values[0] as T)
  }
  // As in YAML 1.2.
  const flag = (name: InputName) => /^true$/i.test(oneOf(name, ['true', 'True', 'TRUE', 'false', 'False', 'FALSE']))
  const inside = (name: InputName, path: string) => {
    const found = insideOf(workspace, path)
    if (found === null) problems.push(`\`${name}\` must be inside of the workspace, found ${quote(path)}`)
    return found ?? '.'
  }
  const list = (name: InputName) => listIn(text(name)).map((path) => inside(name, path))
  const inputs = {
    paths: list('paths'),
    strict: flag('strict'),
    tests: oneOf('tests', testModes),
    fail_on: oneOf('fail-on', failures),
    base_ref: text('base-ref'),
    inventory: text('inventory') === '' ? null : inside('inventory', text('inventory')),
    replay: list('replay'),
    annotations: flag('annotations'),
    sarif_file: text('sarif-file') || null,
    json_file: text('json-file') || null,
    summary: flag('summary'),
  }
  problems.push(...problemsOf(inputs))
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return inputs
}

function listIn(text: string): string[] {
  return text.split(/[\n,]/).flatMap((part) => part.trim() || [])
}

/** Relative to the workspace; null for a path that leads out of it. */
function insideOf(workspace: string, path: string): string | null {
  const inner = isAbsolute(path) ? relative(workspace, path) : path
  const normal = posix.normalize(inner.replaceAll('\\', '/')).replace(/(?<=.)\/$/, '')
  return isAbsolute(normal) || normal.split('/')[0] === '..' ? null : normal
}

/** A name as people write it: not an option, and nothing that Git reads as a range. */
const refForm = /^(?!.*(\.\.|@\{|\/\/))[\p{L}\p{N}_][\p{L}\p{N}_./+@#-]*([~^]\d*)*$/u

function problemsOf({ paths, base_ref, fail_on }: Inputs): string[] {
  const excluded = paths.find((path) => path.startsWith('!'))
  return [
    ...(paths.length === 0 ? ['`paths` must name at least one file or folder, such as `policies`'] : []),
    ...(excluded === undefined ? [] : [`\`paths\` cannot exclude: name what to check instead of ${quote(excluded)}`]),
    ...(fail_on === 'looser' && base_ref === 'none'
      ? ['`fail-on: looser` needs a comparison: remove `base-ref: none`']
      : []),
    ...(base_ref === '' || (base_ref.length <= 250 && refForm.test(base_ref))
      ? []
      : [`\`base-ref\` must be a commit, a branch or a tag, such as \`origin/main\`, found ${quote(base_ref)}`]),
  ]
}
