// What a task of the benchmarks did so far: the user named addresses, the agent read its contacts and its mail, asked for
// approvals and called a tool. The labels of a message of others say which parts of it are theirs.
import { fieldsDigest } from '@svc/proof'
import type { Step } from '@svc/schemas'
import { step } from './policies.js'

/** Random numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type Random = () => number

export const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T

export const words =
  'the passenger asked to change seat on flight because of an appointment in Zurich and paid by card'.split(' ')

export function text(random: Random, length: number): string {
  return Array.from({ length }, () => pick(random, words)).join(' ')
}

const first = ['mia', 'omar', 'yara', 'liam', 'ines', 'noah']
const last = ['li', 'khan', 'rossi', 'novak', 'silva', 'meyer']
const addresses = last.flatMap((family) => first.map((name) => `${name}.${family}@example.org`))
/** Most recipients are among the addresses that the tasks know. */
const usual = addresses.slice(0, 12)

export function recipient(random: Random): string {
  return pick(random, random() < 0.9 ? usual : addresses)
}

/** A message of the user, who names addresses. */
export function userMessage(random: Random, named: number): Step {
  const list = Array.from({ length: named }, () => pick(random, usual)).join(' ')
  return {
    step_type: 'step.message',
    verb: 'GET',
    input: { text: `${text(random, 8)} ${list}` },
    properties: { counterpart: { kind: 'user' } },
  }
}

function readContacts(random: Random): Step {
  const contacts = Array.from({ length: 3 }, () => ({ name: pick(random, first), address: pick(random, usual) }))
  return {
    step_type: 'step.resource',
    verb: 'GET',
    step_name: 'search_contacts',
    input: { query: pick(random, last) },
    output: { contacts },
    properties: {
      data: { classification: 'internal' },
      content: { trust: 'own' },
      target: { trust: 'internal', host: 'contacts.example' },
    },
  }
}

/** The sender is as the mail server states it; the text is of others. */
function readMail(random: Random): Step {
  const mails = [{ from: pick(random, usual), body: `${text(random, 10)} ${pick(random, addresses)}` }]
  return {
    step_type: 'step.resource',
    verb: 'GET',
    step_name: 'read_mail',
    input: { folder: 'inbox' },
    output: { mails },
    properties: {
      data: { classification: 'internal' },
      content: { trust: 'own', trust_of: { 'mails.*.body': 'public' } },
      target: { trust: 'internal', host: 'inbox.example' },
    },
  }
}

/** With the digest of what it approves, when that is given. */
function gate(approved?: { readonly step_name: string; readonly recipient: string }): Step {
  const fields = approved && { step_name: approved.step_name, 'input.recipient': approved.recipient }
  return {
    step_type: 'step.gate',
    ...(fields && { input: { action_digest: fieldsDigest('step.resource', fields) } }),
    output: { status: 'approved' },
    properties: { guard: { check_type: 'human_approval' } },
  }
}

/** A running task: messages of the user, what it reads, approvals, calls of models, and calls of a tool. */
export function pastStep(index: number): Step {
  const random = seeded(index)
  if (index % 20 === 1) return userMessage(random, 2)
  if (index % 20 === 5) return readContacts(random)
  if (index % 20 === 7) return readMail(random)
  if (index % 20 === 10) {
    const step_name = pick(random, ['book_reservation', 'send_certificate'])
    return gate({ step_name, recipient: recipient(random) })
  }
  if (index % 10 === 0) return gate()
  return index % 3 === 0 ? { step_type: 'step.model', verb: 'POST' } : step
}
