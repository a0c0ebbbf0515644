// The tools of a task: fixed at its start, and only shrinking (docs/design/engine.md §5).
import { canonicalType, type JsonMap, type Step } from '@svc/schemas'
import type { History, RuleContext } from '../form/rule.js'
import { AmbiguousField, dotted } from '../values/members.js'

const inProperties = dotted(['declared_tools'])
const inMeta = dotted(['agent', 'declared_tools'])

/** The member of `meta` in which the local engine writes the tools that a context declared. */
export const toolsMember = 'svc.tools'

/** The member of the facts about an agent with the tools of its registration, where a context declares others. */
export const registeredMember = 'registered_tools'

/** The tools that the agent was registered with: the facts may have those of the context in their place. */
export function registeredTools(agent: JsonMap): unknown {
  if (Object.hasOwn(agent, registeredMember)) return agent[registeredMember]
  return agent.declared_tools ?? (agent.attributes as JsonMap | undefined)?.declared_tools ?? null
}

/** Limits the tools of the task to those that a recorded step declares for it: a task.start, or the local engine. */
export function narrowToolsBy(history: History, step: Step): void {
  if (step.meta?.[toolsMember] !== undefined) narrowTools(history, step.meta[toolsMember])
  if (canonicalType(step.step_type) === 'task.start') narrowTools(history, toolsOfStart(step))
}

/** The tools that a task.start declares for its task; null for one that declares none. */
function toolsOfStart(step: Step): readonly unknown[] | null {
  try {
    const declared = inProperties(step.properties) ?? inMeta(step.meta)
    // A list that cannot be read names no tool.
    return declared === null || Array.isArray(declared) ? declared : []
  } catch (error) {
    // Two different lists: no tool is in both for certain.
    if (error instanceof AmbiguousField) return []
    throw error
  }
}

/** Limits the tools of the task to a list that it declares; a list that allows more changes nothing. */
export function narrowTools(history: History, declared: unknown): void {
  if (!Array.isArray(declared)) return
  const { tools } = history
  if (tools === null) history.tools = declared
  else if (tools !== declared && tools.some(isMissingIn(declared))) history.tools = fewer(tools, declared)
}

/** Limits the tools of the task to those that its agent declares now. Content of others must not widen a list that follows it. */
export function narrowToolsToFacts(history: History, facts: JsonMap): void {
  if (history.others !== null && Object.hasOwn(facts, registeredMember)) {
    const registered = facts[registeredMember]
    // Without an earlier list, nothing shows that the content did not name the tools.
    narrowTools(history, Array.isArray(registered) || history.tools !== null ? registered : [])
  }
  narrowTools(history, facts.declared_tools)
}

/** Reads `declared_tools` of the context or the agent, limited to the tools of the task. */
export function toolsGetter(source: 'context' | 'agent'): (context: RuleContext) => unknown {
  const known = new WeakMap<readonly unknown[], WeakMap<readonly unknown[], readonly unknown[]>>()
  return ({ [source]: facts, history: { tools } }) => {
    const declared = facts.declared_tools ?? (facts.attributes as JsonMap | undefined)?.declared_tools ?? null
    if (tools === null || tools === declared) return declared
    if (!Array.isArray(declared)) return tools
    const ofTask = known.get(tools) ?? new WeakMap<readonly unknown[], readonly unknown[]>()
    known.set(tools, ofTask)
    const both = ofTask.get(declared) ?? fewer(declared, tools)
    ofTask.set(declared, both)
    return both
  }
}

function fewer(tools: readonly unknown[], allowed: readonly unknown[]): readonly unknown[] {
  const isMissing = isMissingIn(allowed)
  return tools.filter((tool) => !isMissing(tool))
}

function isMissingIn(allowed: readonly unknown[]): (tool: unknown) => boolean {
  const names = new Set(allowed.map(toolName))
  return (tool) => {
    const name = toolName(tool)
    return name === null || !names.has(name)
  }
}

/** The name of a tool, which is text or an object with `name`; null for anything else. */
export function toolName(tool: unknown): string | null {
  if (typeof tool === 'string') return tool
  const name = typeof tool === 'object' && tool !== null ? (tool as JsonMap).name : null
  return typeof name === 'string' ? name : null
}
