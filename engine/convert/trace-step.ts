// A step of a trace, checked before it is imported.
import { isMap } from '@svc/proof'
import { documents, type JsonMap, type Step } from '@svc/schemas'
import { createChecker, type SchemaProblem } from '../check/schema-check.js'
import { toolName } from '../rules/selection/task-tools.js'

/** Returns the check of steps: the first problem of one, naming its member; null for a step that a platform accepts. */
export function createStepCheck(): (step: Step) => string | null {
  const check = createChecker(Object.values(documents))('behavior.json')
  return (step) => {
    const [problem] = check(step)
    if (problem !== undefined) return textOf(problem)
    for (const member of ['task_id', 'timestamp', 'step'] as const)
      if (step[member] === undefined) return `\`${member}\` is missing: a recorded step has one`
    return null
  }
}

function textOf({ path, at_key, message }: SchemaProblem): string {
  return path.length === 0 || at_key ? message : `\`${path.join('.')}\`: ${message}`
}

/** The agent that a task.start describes in `meta.agent`; null for another step. */
export function agentOfStart({ meta }: Step): JsonMap | null {
  return isMap(meta?.agent) ? meta.agent : null
}

/** The tools that a step declares for its task; null for a step that declares none. */
export function toolsDeclaredBy(step: Step): string[] | null {
  const declared = step.properties?.declared_tools ?? agentOfStart(step)?.declared_tools
  if (!Array.isArray(declared)) return null
  return declared.map(toolName).filter((name) => name !== null && name !== '') as string[]
}

const toolTypes: ReadonlySet<string> = new Set([
  'step.resource',
  'step.message',
  'step.self',
  'step.credential',
  'step.exec',
])

/** The tool that a step used, by its name; null for a step that used none. */
export function toolOfStep({ step_type, step_name = '' }: Step): string | null {
  return toolTypes.has(step_type) && step_name !== '' ? step_name : null
}
