// What kind of step a tool call is: said by a mapping file, else guessed from the tool's name.
import type { Behavior } from '@svc/schemas'
import { lazyCheck } from '../schema-check.js'
import { type JsonMap, verbProblem, verbsOf } from '../steps.js'

export interface ToolMeaning {
  readonly step_type: Behavior['step_type']
  readonly verb?: NonNullable<Behavior['verb']>
  readonly properties?: JsonMap
}

export interface GuessedMeaning extends ToolMeaning {
  /** False when the name says nothing, and the cautious answer was taken. */
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
// Tools that only use what the agent already knows: they read its own working memory and change nothing outside.
const thinking = new Set(['think', 'calculate', 'plan', 'reflect', 'scratchpad', 'note'])

/** The meaning of a tool: the map's values win over the guess. */
export function meaningOf(name: string, map: ToolMap): GuessedMeaning {
  const said = Object.hasOwn(map, name) ? map[name] : undefined
  const guess = guessOf(name)
  if (said === undefined) return guess
  const step_type = said.step_type ?? guess.step_type
  const verb = said.verb ?? (step_type === guess.step_type ? guess.verb : onlyVerb(step_type))
  return {
    step_type,
    certain: true,
    ...(verb !== undefined && { verb }),
    ...(said.properties && { properties: said.properties }),
  }
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
  return { step_type: 'step.resource', verb: verb as NonNullable<Behavior['verb']>, certain: true }
}

/** The verb of a step type that takes one only; others are left without rather than guessed. */
function onlyVerb(step_type: Behavior['step_type']): NonNullable<Behavior['verb']> | undefined {
  const verbs = verbsOf[step_type]
  return verbs.length === 1 ? verbs[0] : undefined
}

const checkMap = lazyCheck({
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
})

/** What is wrong with a mapping, by path; an empty list when it can be used. */
export function toolMapProblems(
  value: unknown,
): readonly { readonly path: readonly string[]; readonly message: string }[] {
  const problems = checkMap(value)
  if (problems.length > 0) return problems
  return Object.keys(value as ToolMap).flatMap((name) => {
    const { step_type, verb } = meaningOf(name, value as ToolMap)
    const message = verb === undefined ? null : verbProblem({ step_type, verb })
    return message === null ? [] : [{ path: [name, 'verb'], message }]
  })
}
