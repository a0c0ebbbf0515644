// The steps of a benchmark of evaluations: 64 tasks that differ, and steps that are read anew from their JSON for each
// round, as a server reads them. Nothing can be remembered about an object from one evaluation to the next.
import type { Step } from '@svc/schemas'
import { pastStep } from './policies.js'

export const tasks = 64

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

type Random = () => number

const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T

const words = 'the passenger asked to change seat on flight because of an appointment in Zurich and paid by card'.split(
  ' ',
)

/** Four of ten steps call one of the two tools that most policies target. */
const tools = ['book_reservation', 'cancel_reservation', 'search', 'get_user', 'update_address', 'send_certificate']
const likely = [...tools, 'book_reservation', 'cancel_reservation']
const hosts = ['booking.example', 'booking.example', 'api.booking.example', 'mail.example', 'H7.example:8443']

function text(random: Random, length: number): string {
  return Array.from({ length }, () => pick(random, words)).join(' ')
}

/** A call of a tool, with 6 to 30 texts in its input; one call in 50 holds what a content policy forbids. */
function call(random: Random): Step {
  const number = () => Math.floor(random() * 10_000)
  const passengers = Array.from({ length: Math.floor(random() * 5) }, () => {
    return { first_name: pick(random, words), last_name: pick(random, words), dob: `19${10 + (number() % 90)}-04-05` }
  })
  return {
    step_type: 'step.resource',
    verb: pick(random, ['POST', 'POST', 'GET', 'PATCH']),
    step_name: pick(random, likely),
    input: {
      user_id: `mia_li_${number()}`,
      amount: number() % 600,
      path: `/srv/desk/mia_${number()}.json`,
      flight: `HAT${number()}`,
      note: random() < 0.02 ? 'her number is 123-45-6789' : text(random, number() % 30),
      passengers,
    },
    properties: {
      data: { classification: pick(random, ['public', 'internal', 'internal', 'secret']) },
      target: { trust: pick(random, ['internal', 'external']), host: pick(random, hosts) },
      usage: { total_tokens: number() },
    },
  }
}

const others: readonly ((random: Random) => Step)[] = [
  (random) => ({ step_type: 'step.message', verb: 'POST', step_name: 'reply', input: { text: text(random, 40) } }),
  (random) => ({ step_type: 'step.model', verb: 'POST', input: { prompt: text(random, 100) } }),
  (random) => ({ step_type: 'step.exec', properties: { exec: { command: `grep ${pick(random, words)} notes.txt` } } }),
]

/** The JSON of a step: three of four call a tool. */
export function variedStep(random: Random): string {
  return JSON.stringify(random() < 0.75 ? call(random) : pick(random, others)(random))
}

/** The steps of a task so far. Its calls differ from those of other tasks. */
export function pastSteps(task: number, length: number): Step[] {
  const random = seeded(task)
  return Array.from({ length }, (_, index) => (random() < 0.5 ? pastStep(index + task) : call(random)))
}
