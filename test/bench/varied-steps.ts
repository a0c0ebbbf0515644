// The steps of a benchmark of evaluations: 64 tasks that differ, and steps that are read anew from their JSON for each
// round, as a server reads them. Nothing can be remembered about an object from one evaluation to the next.
import type { Step } from '@svc/schemas'
import { pastStep, pick, type Random, recipient, seeded, text, userMessage, words } from './past-steps.js'

export const tasks = 64

/** Four of ten steps call one of the two tools that most policies target. */
const tools = ['book_reservation', 'cancel_reservation', 'search', 'get_user', 'update_address', 'send_certificate']
const likely = [...tools, 'book_reservation', 'cancel_reservation']
const hosts = ['booking.example', 'booking.example', 'api.booking.example', 'mail.example', 'H7.example:8443']

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
      recipient: recipient(random),
      note: note(random),
      passengers,
    },
    properties: {
      data: { classification: pick(random, ['public', 'internal', 'internal', 'secret']) },
      target: { trust: pick(random, ['internal', 'external']), host: pick(random, hosts) },
      usage: { total_tokens: number() },
    },
  }
}

function note(random: Random): string {
  if (random() < 0.02) return 'her number is 123-45-6789'
  const words = text(random, Math.floor(random() * 30))
  return random() < 0.1 ? `${words} for ${recipient(random)}` : words
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

/** The steps of a task so far, from what the user asked for. Its calls differ from those of other tasks. */
export function pastSteps(task: number, length: number): Step[] {
  const random = seeded(task)
  return Array.from({ length }, (_, index) => {
    if (index === 0) return userMessage(random, 12)
    return random() < 0.5 ? pastStep(index + task) : call(random)
  })
}
