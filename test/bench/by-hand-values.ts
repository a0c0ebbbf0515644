// The values of a task as a programmer would keep them for the closures of by-hand.ts: sets of words and addresses.
import { hash } from 'node:crypto'
import type { Step } from '@svc/schemas'

export interface Values {
  readonly user: Set<string>
  /** Of the contacts and of the senders of messages. */
  readonly trusted: Set<string>
  /** What messages of others said first. */
  readonly ofOthers: Set<string>
  /** Addresses that the agent wrote before it was given them. */
  readonly written: Set<string>
  /** Hosts that the agent changed: what it reads there later may be its own work. */
  readonly changed: Set<unknown>
  /** Digests of what people approved. */
  readonly approved: Set<unknown>
  has_contacts: boolean
  has_mail: boolean
}

export function newValues(): Values {
  return {
    user: new Set(),
    trusted: new Set(),
    ofOthers: new Set(),
    written: new Set(),
    changed: new Set(),
    approved: new Set(),
    has_contacts: false,
    has_mail: false,
  }
}

interface Mail {
  readonly from: string
  readonly body: string
}

export function addValues(values: Values, step: Step): void {
  const { target, counterpart } = (step.properties ?? {}) as Record<string, Record<string, unknown> | undefined>
  if (counterpart?.kind === 'user') for (const word of wordsOf(String(step.input?.text))) values.user.add(word)
  if (step.step_type === 'step.gate' && step.output?.status === 'approved' && step.input !== undefined)
    values.approved.add(step.input.action_digest)
  if (step.step_name === 'search_contacts') {
    values.has_contacts = true
    const contacts = step.output?.contacts as readonly { name: string; address: string }[]
    for (const { name, address } of contacts) trust(values, target?.host, `${name} ${address}`)
  }
  if (step.step_name === 'read_mail') {
    values.has_contacts = true
    values.has_mail = true
    const mails = step.output?.mails as readonly Mail[]
    for (const { from } of mails) trust(values, target?.host, from)
    for (const { body } of mails)
      for (const word of wordsOf(body)) if (word.length >= 8 && !isKnown(values, word)) values.ofOthers.add(word)
  }
  if (step.step_type === 'step.resource' && step.verb !== 'GET') addWritten(values, step, target?.host)
}

function trust(values: Values, host: unknown, text: string): void {
  if (values.changed.has(host)) return
  for (const word of wordsOf(text)) if (!values.written.has(word)) values.trusted.add(word)
}

function addWritten(values: Values, step: Step, host: unknown): void {
  const { recipient, note } = step.input ?? {}
  for (const word of wordsOf(`${recipient} ${note}`))
    if (word.includes('@') && !isKnown(values, word)) values.written.add(word)
  values.changed.add(host)
}

function isKnown({ user, trusted }: Values, word: string): boolean {
  return user.has(word) || trusted.has(word)
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(' ')
}

/** What an approval of this call carries. */
export function digestOf({ step_type, step_name, input }: Step): string {
  return hash('sha256', JSON.stringify({ 'input.recipient': input?.recipient, step_name, step_type }))
}
