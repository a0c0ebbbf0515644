// The names of tools that an agent or its task declares, and the words for a step whose name is not among them.
import { compileField } from './lookup.js'
import type { RuleContext, StepContext } from './rule.js'
import { listed, literal } from './shown.js'
import { toolName } from './task-tools.js'

/** The field of an agent with its tools, which a task can limit. */
export const declaredTools = 'declared_tools'

/** The names in a context; null where there is no list. */
interface Names {
  readonly in: (context: RuleContext) => ReadonlySet<string> | null
  /** The first names of a list that `in` returned. */
  readonly listed: (known: ReadonlySet<string>) => string
}

/** The list in the context, else the registered one. Each list object is read once. */
export function namesOfAgent(field: string): Names {
  const inContext = compileField(`context.${field}`, 'agent_field')
  const inAgent = compileField(`agent.${field}`, 'agent_field')
  const seen = new WeakMap<object, ReadonlySet<string>>()
  const texts = new WeakMap<ReadonlySet<string>, string>()
  return {
    in: (context) => {
      const list = inContext(context) ?? inAgent(context)
      if (!Array.isArray(list)) return null
      const known = seen.get(list) ?? new Set(list.flatMap((item: unknown) => toolName(item) ?? []))
      seen.set(list, known)
      return known
    },
    listed: (known) => {
      const text = texts.get(known) ?? listed([...known])
      texts.set(known, text)
      return text
    },
  }
}

interface Words {
  readonly message: string
  readonly remedy: string
}

/** Why the name of the step is not in the list, and what to do. */
export function notListed(context: StepContext, field: string, names: Names): Words {
  const { step_name } = context.step
  const known = names.in(context)
  if (known === null) return withoutList(step_name, field)
  const isOfTask = field === declaredTools && isFewerInTask(context, names)
  const whose =
    field === declaredTools ? `the declared tools of ${isOfTask ? 'this task' : 'the agent'}` : ofAgent(field)
  const which = known.size === 0 ? ', which are none' : `: ${names.listed(known)}`
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

/** Whether the task declares tools, and its agent none or the one of the step. */
function isFewerInTask(context: StepContext, names: Names): boolean {
  const { step, history } = context
  if (history.tools === null) return false
  const known = names.in({ ...context, history: { ...history, tools: null } })
  return known === null || step.step_name === undefined || known.has(step.step_name)
}
