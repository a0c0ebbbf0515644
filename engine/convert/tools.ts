// The kind of step of a tool call: from a mapping file, else guessed from the name of the tool.
import { type JsonMap, type StepType, verbProblem, verbsOf } from '@svc/schemas'
import { lazyCheck, type SchemaProblem } from '../check/schema-check.js'
import { depthOf, maxValueDepth } from './exact.js'
import { type Guess, guessOf } from './tool-guess.js'
import type { Verb } from './tool-words.js'

export interface ToolMeaning {
  readonly step_type: StepType
  readonly verb?: Verb
  readonly properties?: JsonMap
}

export type ToolMap = Readonly<Record<string, Partial<ToolMeaning>>>

/** The meaning of a tool: the map's values win over the guess, and what the map states is not in doubt. */
export function meaningOf(name: string, map: ToolMap): Guess {
  const guess = guessOf(name)
  const mapped = Object.hasOwn(map, name) ? map[name] : undefined
  if (mapped === undefined) return guess
  const step_type = mapped.step_type ?? guess.step_type
  const verb = mapped.verb ?? verbFor(step_type, guess.verb)
  // Labels of another kind of step say nothing about this one.
  const isAsGuessed = step_type === guess.step_type && verb === guess.verb
  const properties = mapped.properties ?? (isAsGuessed ? guess.properties : undefined)
  const isVerbKnown = mapped.verb !== undefined || verb === undefined || verbsOf[step_type].length === 1
  const doubts = guess.doubts.filter((code) => {
    if (code === 'labels' || code === 'unlabelled') return isAsGuessed && mapped.properties === undefined
    if (code === 'type') return mapped.step_type === undefined
    return !isVerbKnown
  })
  return {
    step_type,
    ...(verb !== undefined && { verb }),
    ...(properties && { properties }),
    doubts,
    ...(doubts.includes('unlabelled') && { suggested: guess.suggested }),
  }
}

export type Meanings = (name: string) => Guess

/** The meanings of tools, each found once. */
export function meaningsBy(map: ToolMap): Meanings {
  const found = new Map<string, Guess>()
  return (name) => {
    const meaning = found.get(name) ?? meaningOf(name, map)
    found.set(name, meaning)
    return meaning
  }
}

/** The guessed verb when the step type takes it, else the only verb of the step type. */
function verbFor(step_type: StepType, guess: Verb | undefined): Verb | undefined {
  const verbs = verbsOf[step_type]
  if (guess !== undefined && verbs.includes(guess)) return guess
  return verbs.length === 1 ? verbs[0] : undefined
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
