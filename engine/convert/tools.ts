// The kind of step of a tool call: from a mapping file, else guessed from the name of the tool.
import { type Behavior, type JsonMap, verbProblem, verbsOf } from '@svc/schemas'
import { lazyCheck, type SchemaProblem } from '../check/schema-check.js'
import { depthOf, maxValueDepth } from './exact.js'

type Verb = NonNullable<Behavior['verb']>

export interface ToolMeaning {
  readonly step_type: Behavior['step_type']
  readonly verb?: Verb
  readonly properties?: JsonMap
}

export interface GuessedMeaning extends ToolMeaning {
  /** False when the name gives no hint, and the cautious meaning was taken. */
  readonly certain: boolean
}

export type ToolMap = Readonly<Record<string, Partial<ToolMeaning>>>

const verbWords: Readonly<Record<string, readonly string[]>> = {
  GET: [
    'get',
    'search',
    'list',
    'find',
    'read',
    'lookup',
    'check',
    'fetch',
    'query',
    'show',
    'view',
    'retrieve',
    'count',
    'describe',
  ],
  POST: [
    'book',
    'create',
    'send',
    'add',
    'post',
    'transfer',
    'submit',
    'insert',
    'upload',
    'pay',
    'order',
    'make',
    'write',
    'open',
  ],
  PATCH: ['update', 'edit', 'modify', 'set', 'change', 'rename', 'move', 'patch', 'replace'],
  DELETE: ['cancel', 'delete', 'remove', 'drop', 'purge', 'revoke', 'close'],
}
const runners = new Set(['exec', 'execute', 'run', 'python', 'bash', 'shell', 'sh', 'terminal', 'code', 'eval'])
const runnerNames = /^(run|exec|execute|eval)_?(code|command|python|bash|shell|script|sql)?$/i
// Tools that read the working memory of the agent and change nothing outside.
const thinking = new Set(['think', 'calculate', 'plan', 'reflect', 'scratchpad', 'note'])

/** The meaning of a tool: the map's values win over the guess. */
export function meaningOf(name: string, map: ToolMap): GuessedMeaning {
  const guess = guessOf(name)
  const mapped = Object.hasOwn(map, name) ? map[name] : undefined
  if (mapped === undefined) return guess
  const step_type = mapped.step_type ?? guess.step_type
  const verb = mapped.verb ?? verbFor(step_type, guess.verb)
  return {
    step_type,
    certain: mapped.verb !== undefined || guess.certain || verb === undefined || verbsOf[step_type].length === 1,
    ...(verb !== undefined && { verb }),
    ...(mapped.properties && { properties: mapped.properties }),
  }
}

/** The guessed verb when the step type takes it, else the only verb of the step type. */
function verbFor(step_type: Behavior['step_type'], guess: Verb | undefined): Verb | undefined {
  const verbs = verbsOf[step_type]
  if (guess !== undefined && verbs.includes(guess)) return guess
  return verbs.length === 1 ? verbs[0] : undefined
}

function guessOf(name: string): GuessedMeaning {
  const [first = ''] = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (runnerNames.test(name) || runners.has(name.toLowerCase())) return { step_type: 'step.exec', certain: true }
  if (thinking.has(first)) return { step_type: 'step.self', verb: 'GET', certain: true }
  const verb = Object.keys(verbWords).find((candidate) => verbWords[candidate]?.includes(first))
  if (verb === undefined) return { step_type: 'step.resource', verb: 'POST', certain: false }
  return { step_type: 'step.resource', verb: verb as Verb, certain: true }
}

const checkMap = lazyCheck(
  {
    type: 'object',
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: {
        step_type: { type: 'string', enum: Object.keys(verbsOf) },
        verb: { type: 'string', enum: ['GET', 'POST', 'PATCH', 'DELETE'] },
        properties: { type: 'object' },
      },
    },
  },
  'yaml',
)

/** The problems of a mapping, by path; empty for a valid one. */
export function toolMapProblems(value: unknown): readonly SchemaProblem[] {
  const problems = checkMap(value)
  if (problems.length > 0) return problems
  const map = value as ToolMap
  return Object.entries(map).flatMap(([name, { properties }]) => {
    const { step_type, verb } = meaningOf(name, map)
    const found: SchemaProblem[] = []
    const message = verb === undefined ? null : verbProblem({ step_type, verb })
    if (message !== null) found.push({ path: [name, 'verb'], at_key: false, message })
    if (depthOf(properties) > maxValueDepth)
      found.push({ path: [name, 'properties'], at_key: true, message: 'is nested too deeply' })
    return found
  })
}
