// The names of tools that an agent or its task declares, and the words for a step whose name is not among them.

import type { RuleContext, StepContext } from './form/rule.js'
import { compileField } from './selection/lookup.js'
import { registeredTools, toolName } from './selection/task-tools.js'
import { listed, literal } from './values/shown.js'

/** The field of an agent with its tools, which a task can limit. */
export const declaredTools = 'declared_tools'

/** The names in a context; null where there is no list. */
export interface Names {
  readonly in: (context: RuleContext) => ReadonlySet<string> | null
  /** The names of the agent, also those that its task leaves out; null where there is no list. */
  readonly ofAgent: (context: RuleContext) => ReadonlySet<string> | null
  /** False where neither the context nor the agent has a value, which can be one that is not a list. */
  readonly areDeclared: (context: RuleContext) => boolean
  /** The first names of a list that `in` returned. */
  readonly listed: (known: ReadonlySet<string>) => string
}

/** The list in the context, else the registered one. Each list object is read once. */
export function namesOfAgent(field: string): Names {
  const inContext = compileField(`context.${field}`, 'agent_field')
  const inAgent = compileField(`agent.${field}`, 'agent_field')
  const setOf = nameSets()
  const texts = new WeakMap<ReadonlySet<string>, string>()
  const namesIn = (context: RuleContext) => {
    const list = inContext(context) ?? inAgent(context)
    return Array.isArray(list) ? setOf(list) : null
  }
  return {
    in: namesIn,
    ofAgent: (context) => namesIn({ ...context, history: { ...context.history, tools: null } }),
    areDeclared: (context) => (inContext(context) ?? inAgent(context)) !== null,
    listed: (known) => {
      const text = texts.get(known) ?? listed([...known])
      texts.set(known, text)
      return text
    },
  }
}

/** The names in a list. Each list object is read once. */
function nameSets(): (list: readonly unknown[]) => ReadonlySet<string> {
  const seen = new WeakMap<object, ReadonlySet<string>>()
  return (list) => {
    const known = seen.get(list) ?? new Set(list.flatMap((item) => toolName(item) ?? []))
    seen.set(list, known)
    return known
  }
}

/** The tools of an agent, also those that its task leaves out. */
export interface KnownTools {
  readonly isRegistered: (context: RuleContext, name: string) => boolean
  /** Registered, or declared by the context. */
  readonly isKnown: (context: RuleContext, name: string) => boolean
}

export function knownTools(): KnownTools {
  const setOf = nameSets()
  const has = (list: unknown, name: string) => Array.isArray(list) && setOf(list).has(name)
  const isRegistered = ({ agent }: RuleContext, name: string) => has(registeredTools(agent), name)
  return {
    isRegistered,
    isKnown: (context, name) => isRegistered(context, name) || has(context.agent.declared_tools, name),
  }
}

interface Words {
  readonly message: string
  readonly remedy: string
}

/** The reason why the name of the step is not in the list, and what to do. */
export function notListed(context: StepContext, field: string, names: Names): Words {
  const { step_name } = context.step
  const known = names.in(context)
  if (known === null) return withoutList(step_name, field)
  const missing = field === declaredTools ? missingInAgent(context, names) : known
  const isOfTask = missing === null
  const whose =
    field === declaredTools ? `the declared tools of ${isOfTask ? 'this task' : 'the agent'}` : ofAgent(field)
  const shown = missing ?? known
  const which = shown.size === 0 ? ', which are none' : `: ${names.listed(shown)}`
  if (step_name === undefined)
    return { message: `the step has no \`step_name\`; it must be one of ${whose}${which}`, remedy: nameIt }
  const name = literal(step_name)
  const others = known.size === 0 ? '' : `use one of ${field === declaredTools ? 'the declared tools' : whose}, or `
  const addition = isOfTask ? `declare ${name} at the start of a new task` : `add ${name} to ${ofAgent(field)}`
  return {
    message: `${name} is not among ${whose}${which}`,
    remedy: `${others}${addition}, if it should have this tool`,
  }
}

const nameIt = 'give the step the name of its tool'

function withoutList(step_name: string | undefined, field: string): Words {
  const missing = `the agent has no list in \`${field}\``
  if (step_name === undefined)
    return {
      message: `the step has no \`step_name\`, and ${missing}`,
      remedy: `${nameIt}, and list it in ${ofAgent(field)}`,
    }
  return { message: missing, remedy: `list ${literal(step_name)} in ${ofAgent(field)}, if it should have this tool` }
}

function ofAgent(field: string): string {
  return `\`${field}\` of the agent`
}

/** The tools of the agent, if the one of the step is not among them; null if only the task leaves it out. */
function missingInAgent(context: StepContext, names: Names): ReadonlySet<string> | null {
  const { step, history } = context
  const ofAgent = names.ofAgent(context)
  const isMissing = step.step_name === undefined ? history.tools === null : !ofAgent?.has(step.step_name)
  return isMissing ? ofAgent : null
}
