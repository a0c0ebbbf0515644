// The policies of `hundredPolicies` as a programmer would write them by hand: one closure for each, and the numbers of a
// task that they need. They are what an evaluation is compared with, and must find the same policies violated.
import type { Step } from '@svc/schemas'
import { addValues, digestOf, newValues, type Values } from './by-hand-values.js'

/** True: passes; false: violated; null: not applicable. */
type Closure = (step: Step, task: Task, now: number) => boolean | null

/** What the closures need of a task. */
export interface Task {
  length: number
  resources: number
  /** Calls at the end of the history. */
  run: number
  tokens: number
  has_model: boolean
  has_error: boolean
  approved: boolean
  approved_at: number
  readonly external_hosts: Set<unknown>
  readonly times: number[]
  readonly values: Values
}

export function newTask(): Task {
  return {
    length: 0,
    resources: 0,
    run: 0,
    tokens: 0,
    has_model: false,
    has_error: false,
    approved: false,
    approved_at: 0,
    external_hosts: new Set(),
    times: [],
    values: newValues(),
  }
}

type Properties = Record<string, Record<string, unknown> | undefined>

export function addStep(task: Task, step: Step, at: number): void {
  task.length += 1
  const isCall = step.step_type === 'step.resource'
  task.run = isCall ? task.run + 1 : 0
  const { target, usage, guard } = (step.properties ?? {}) as Properties
  if (step.step_type === 'step.model') task.has_model = true
  if (step.step_type === 'task.error') task.has_error = true
  if (step.step_type === 'step.gate' && step.input?.action_digest !== undefined) {
    // A gate for one action is not between another gate and its target.
    task.approved_at += 1
  } else if (step.step_type === 'step.gate' && guard?.check_type === 'human_approval') {
    task.approved = step.output?.status === 'approved'
    task.approved_at = task.length
  }
  addValues(task.values, step)
  if (!isCall) return
  task.resources += 1
  task.times.push(at)
  task.tokens += Number(usage?.total_tokens ?? 0)
  if (step.verb === 'GET' && target?.trust === 'external') task.external_hosts.add(target.host)
}

const isCall = (step: Step) => step.step_type === 'step.resource'
const isDesk = ({ step_name }: Step) => step_name === 'book_reservation' || step_name === 'cancel_reservation'
const isNamed = ({ step_name }: Step, n: number) => step_name === 'book_reservation' || step_name === `tool_${n}`
const input = (step: Step): Record<string, unknown> => step.input ?? {}
const properties = (step: Step) => (step.properties ?? {}) as Properties

/** Whether a test accepts a text, number or key inside the value. */
function some(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value === 'number' || typeof value === 'boolean') return test(String(value))
  if (Array.isArray(value)) return value.some((item) => some(item, test))
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) if (test(key) || some((value as Record<string, unknown>)[key], test)) return true
  return false
}

function isAllowedHost(host: unknown, allowed: readonly string[]): boolean | null {
  if (typeof host !== 'string') return null
  const [name = ''] = host.toLowerCase().split(':')
  return allowed.some((domain) => name === domain || name.endsWith(`.${domain}`))
}

/** In the order of the templates of policies.ts. */
const closures: readonly ((n: number) => Closure)[] = [
  (n) => {
    if (n % 2 === 0) return (step) => step.step_name !== undefined && step.step_name !== ''
    return (step) => (step.step_type === 'step.message' ? (input(step)[`field_${n}`] ?? '') !== '' : null)
  },
  (n) => {
    const allowed = new Set<unknown>(['public', 'internal', `level ${n}`])
    return (step) => allowed.has(properties(step).data?.classification)
  },
  (n) => {
    const name = new RegExp(`^[a-z_]{3,${20 + n}}$`)
    return (step) => step.step_name !== undefined && name.test(step.step_name)
  },
  (n) => (step) => {
    if (!isDesk(step)) return null
    const { amount } = input(step)
    return typeof amount === 'number' && amount >= 0 && amount <= 500 + n
  },
  (n) => (step, task) => (isDesk(step) ? task.approved && task.length + 1 - task.approved_at <= 20 + n : null),
  (n) => {
    const host = `h${n}.example`
    return (step, task) => (isCall(step) ? !task.external_hosts.has(host) : null)
  },
  (n) => {
    const verb = n % 2 ? 'POST' : 'GET'
    return (step, task) => (isCall(step) && step.verb === verb ? !task.has_error : null)
  },
  (n) => {
    const verb = n % 2 ? 'PATCH' : 'DELETE'
    return (step, task) => (isCall(step) && (step.verb === 'POST' || step.verb === verb) ? task.has_model : null)
  },
  // No history has a step of a custom type.
  () => (step) => (isCall(step) ? true : null),
  (n) => (step, task) => (isCall(step) && isNamed(step, n) ? task.resources > 0 : null),
  () => (step, task) => (isCall(step) ? task.has_model : null),
  (n) => {
    const type = `step.n${n}`
    return (step, task) => (step.step_type === type ? task.has_model : null)
  },
  (n) => (step, task) => (isCall(step) ? task.resources < 100_000 + n : null),
  (n) => (step, task, now) => {
    if (!isCall(step)) return null
    const oldest = task.times[task.times.length - 300 - n]
    return oldest === undefined || oldest <= now - 60_000
  },
  (n) => (step, task) => (isCall(step) ? task.run < 40 + n : null),
  (n) => (step, task) =>
    isCall(step) ? task.tokens + Number(properties(step).usage?.total_tokens ?? 0) <= 1e9 + n : null,
  (n) => {
    const names = new Set(n > 16 ? ['search', `tool ${n}`] : ['search', 'book_reservation'])
    return (step) => {
      if (n <= 16 && !isNamed(step, n)) return null
      return step.step_name !== undefined && names.has(step.step_name)
    }
  },
  // The agent has the level `limited`.
  (n) => (step) => (isCall(step) && isNamed(step, n) ? true : null),
  (n) => {
    const allowed = ['booking.example', `d${n}.example`]
    return (step) => isAllowedHost(properties(step).target?.host, allowed)
  },
  (n) => {
    const patterns = [/[0-9]{3}-[0-9]{2}-[0-9]{4}/, new RegExp(`AKIA[0-9A-Z]{${16 + n}}`)]
    const isFound = (text: string) => patterns.some((pattern) => pattern.test(text))
    return (step) => !some(step.input, isFound) && !some(properties(step).exec?.command, isFound)
  },
  (n) => {
    const pattern = new RegExp(`drop table t${n}`, 'i')
    return (step) => !some(step.input, (text) => pattern.test(text))
  },
  (n) => (step) => {
    const isWrite = step.step_type === 'step.exec' || (step.verb !== 'GET' && step.verb !== undefined)
    const { path } = input(step)
    if (!isWrite || !isNamed(step, n) || typeof path !== 'string') return null
    return path.startsWith('/srv/desk/') && !path.includes('..')
  },
  (n) => (step) => (isNamed(step, n) ? true : null),
  (n) => {
    const type = `step.m${n}`
    return (step) => (step.step_type === type ? true : null)
  },
  (n) =>
    (step, { values }) => {
      const { recipient } = input(step)
      if (!isNamed(step, n) || typeof recipient !== 'string') return null
      return values.user.has(recipient) || values.trusted.has(recipient)
    },
  (n) => {
    const address = new RegExp(`[a-z.]{3,${20 + n}}@[a-z]`)
    return (step, { values }) => {
      const { note } = input(step)
      if (!isDesk(step) || typeof note !== 'string') return null
      if (!address.test(note)) return true
      return note.split(' ').every((word) => !address.test(word) || values.user.has(word))
    }
  },
  (n) =>
    (step, { values }) => {
      if (!isNamed(step, n) || (step.verb !== 'POST' && step.verb !== 'PATCH')) return null
      if (values.ofOthers.size === 0) return true
      const isForbidden = (word: string) => values.ofOthers.has(word) && !values.user.has(word)
      const { recipient, note } = input(step)
      if (typeof recipient === 'string' && isForbidden(recipient)) return false
      return typeof note !== 'string' || !note.split(' ').some(isForbidden)
    },
  (n) =>
    (step, { values }) =>
      step.step_name === 'search' || step.step_name === `tool_${n}` ? values.has_contacts : null,
  (n) =>
    (step, { values }) => {
      if (!values.has_mail) return null
      const { amount } = input(step)
      return typeof amount === 'number' && amount >= 0 && amount <= 580 + n
    },
  (n) => (step) => {
    if (!isNamed(step, n)) return null
    const { amount } = input(step)
    return typeof amount === 'number' && amount >= 0 && amount <= 400 + n
  },
  (n) => (step) => {
    if (!isDesk(step)) return null
    const { passengers } = input(step)
    return !Array.isArray(passengers) || passengers.length <= 3 + (n % 2)
  },
  (n) =>
    (step, { values }) => {
      if (step.step_name !== 'send_certificate' && step.step_name !== `tool_${n}`) return null
      return values.approved.has(digestOf(step))
    },
]

/** The policies of this template ask for an approval, which one of them passes with. */
const asks = 29

const unlessApproved = (closure: Closure): Closure => {
  return (step, task, now) => {
    const answer = closure(step, task, now)
    return answer === false ? task.values.approved.has(digestOf(step)) : answer
  }
}

const anyOf = (parts: readonly Closure[]): Closure => {
  return (step, task, now) => {
    let answer: boolean | null = null
    for (const part of parts) {
      const own = part(step, task, now)
      if (own === true) return true
      answer ??= own
    }
    return answer
  }
}

const allOf = (parts: readonly Closure[]): Closure => {
  return (step, task, now) => {
    let answer: boolean | null = null
    for (const part of parts) {
      const own = part(step, task, now)
      if (own === false) return false
      answer ??= own
    }
    return answer
  }
}

const closureAt = (index: number, n: number): Closure => (closures[index % closures.length] ?? never)(n)
const never = () => () => null

function compound(n: number): Closure {
  const parts = [5, 11, 17].map((offset) => closureAt(n + offset, 200 + n))
  const [first = closureAt(n, n)] = parts
  return n % 2 ? anyOf(parts) : allOf([anyOf(parts), first])
}

/** The ids of the violated policies, in order. */
export function byHand(): (step: Step, task: Task, now: number) => number[] {
  const all = Array.from({ length: 100 }, (_, index) => {
    if (index % 5 === 4) return compound(index)
    const closure = closureAt(index, index)
    return index % closures.length === asks ? unlessApproved(closure) : closure
  })
  return (step, task, now) => {
    const violated: number[] = []
    for (let index = 0; index < all.length; index++)
      if (all[index]?.(step, task, now) === false) violated.push(index + 1)
    return violated
  }
}
