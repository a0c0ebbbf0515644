// Guesses the steps of a tool from its name (docs/design/engine.md §10).
import type { JsonMap, StepType } from '@svc/schemas'
import { type NameWords, singular, wordsOf } from './tool-name.js'
import { type Act, actOf } from './tool-verb.js'
import {
  bareReads,
  facts,
  gauges,
  interpreters,
  interpreterWords,
  keyKinds,
  memories,
  messages,
  messengers,
  pageReads,
  pages,
  prepositions,
  programs,
  runs,
  searchEngines,
  searchWords,
  secretReads,
  secrets,
  statements,
  thoughts,
  type Verb,
  webNames,
  webVerbs,
  webWords,
  writtenByOthers,
} from './tool-words.js'

/**
 * The reason why a guess can change a decision: the name reveals nothing; the verb, or the step type, can be another one; labels
 * were guessed; a label is missing that policies need.
 */
export type DoubtCode = 'unknown' | 'verb' | 'type' | 'labels' | 'unlabelled'

export interface Guess {
  readonly step_type: StepType
  readonly verb?: Verb
  readonly properties?: JsonMap
  readonly doubts: readonly DoubtCode[]
  /** Labels that the steps do not get, because a name cannot show them; a person should confirm or correct them. */
  readonly suggested?: JsonMap
}

/** Labels of tools that read the web. */
const ofTheWeb: JsonMap = { target: { trust: 'external' }, content: { trust: 'public' } }
const ofOthers: JsonMap = { content: { trust: 'third_party' } }
const toOutside: JsonMap = { target: { trust: 'external' } }

/** The guess for a name. A gate is never guessed, because it would satisfy policies. */
export function guessOf(name: string): Guess {
  const words = wordsOf(name)
  const act = actOf(words)
  return (
    execution(words, act) ??
    statement(words, act) ??
    thought(words, act) ??
    memory(words, act) ??
    sending(words, act) ??
    webRead(words, act) ??
    secretRead(words, act) ??
    messageRead(words, act) ??
    resource(words, act)
  )
}

const has = (words: readonly string[], set: ReadonlySet<string>) => words.some((word) => set.has(word))
const hasOne = (words: readonly string[], set: ReadonlySet<string>) => words.some((word) => set.has(singular(word)))
const doubtsOf = ({ doubtful }: Act): DoubtCode[] => (doubtful ? ['verb'] : [])

const executionWords = [interpreters, interpreterWords, programs, runs]

function execution({ own }: NameWords, act: Act | null): Guess | null {
  const run = has(own, runs)
  const bare = own.length === 1 && (run || own[0] === 'code')
  const code = own.includes('code') && own.includes('interpreter')
  const exec = own.includes('exec')
  if (act !== null || !(bare || code || exec || has(own, interpreters) || (run && has(own, programs)))) return null
  const isClear = exec || own.every((word) => executionWords.some((set) => set.has(word)))
  return { step_type: 'step.exec', doubts: isClear ? [] : ['type'] }
}

/** A statement of SQL may read or change. */
function statement({ own }: NameWords, act: Act | null): Guess | null {
  const isStatement = own.every((word) => statements.has(word) || runs.has(word)) && hasSubject(own)
  if (!isStatement || (act !== null && act.word !== 'query')) return null
  const reads = act !== null && !own.includes('sql') && !has(own, runs)
  return { step_type: 'step.resource', verb: reads ? 'GET' : 'PATCH', doubts: ['verb'] }
}

/** `query` alone is a search. */
function hasSubject(own: readonly string[]): boolean {
  return own.includes('sql') || (own.length > 1 && has(own, statements))
}

function thought({ own }: NameWords, act: Act | null): Guess | null {
  const [first = ''] = own
  if (first === 'note' && (act === null || act.word === 'note'))
    return { step_type: 'step.self', verb: 'POST', doubts: ['type'] }
  if (!thoughts.has(first) || act !== null) return null
  return { step_type: 'step.self', verb: 'GET', doubts: [] }
}

function memory({ own, all }: NameWords, act: Act | null): Guess | null {
  if (!hasOne(all, memories) || has(all, gauges)) return null
  if (own.includes('recall')) return { step_type: 'step.self', verb: 'GET', doubts: [] }
  if (has(own, new Set(['remember', 'memorize']))) return { step_type: 'step.self', verb: 'POST', doubts: [] }
  if (act === null) return { step_type: 'step.self', verb: 'POST', doubts: ['unknown'] }
  return { step_type: 'step.self', verb: act.verb, doubts: doubtsOf(act) }
}

const forwards = new Set(['forward', 'post', 'resend', 'send'])
const replies = new Set(['reply', 'respond'])
const informs = new Set(['alert', 'email', 'mail', 'message', 'notify', 'sms'])

function sending({ own, all }: NameWords, act: Act | null): Guess | null {
  if (act !== null && act.verb !== 'POST') return null
  if (own.includes('draft') && !own.includes('send')) return null
  const isMessage = hasOne(all, messages) || has(all, messengers)
  const sends = has(own, replies) || (has(own, forwards) && isMessage)
  const asVerb = informs.has(own[0] ?? '') && (act === null || act.word === own[0])
  if (!sends && !asVerb) return null
  const doubts: DoubtCode[] = sends ? ['unlabelled'] : ['type', 'unlabelled']
  return { step_type: 'step.message', verb: 'POST', doubts, suggested: toOutside }
}

function webRead({ own, all }: NameWords, act: Act | null): Guess | null {
  if (act !== null && act.verb !== 'GET') return null
  if (!(isSearchEngine(own) || (act !== null && isWebRead(own, all)))) return null
  const doubts = act === null ? [] : doubtsOf(act)
  return { step_type: 'step.resource', verb: 'GET', properties: ofTheWeb, doubts: [...doubts, 'labels'] }
}

/** `google_search` is one, `google_calendar_list_events` is not. */
function isSearchEngine(own: readonly string[]): boolean {
  return has(own, searchEngines) && own.every((word) => searchEngines.has(word) || searchWords.has(word))
}

function isWebRead(own: readonly string[], all: readonly string[]): boolean {
  const [first = ''] = own
  if (own.length === 1 && (webNames.has(first) || (first === 'open' && has(all, webWords)))) return true
  if (has(own, webVerbs) || (has(own, pageReads) && hasOne(own, pages))) return true
  // Clients of HTTP: `requests_get`.
  if (first === 'requests' && own.length === 2) return true
  // `get_image_url` returns an address; `get_url` and `summarize_from_url` read it.
  const at = own.findIndex((word) => singular(word) === 'url')
  if (at >= 0) return at <= 1 || own[at - 1] === 'from'
  return hasOne(all, webWords)
}

function secretRead({ own }: NameWords, act: Act | null): Guess | null {
  if (act === null || act.word === null || !secretReads.has(act.word)) return null
  const words = own.at(-1) === 'value' ? own.slice(0, -1) : own
  const last = singular(words.at(-1) ?? '')
  const isKey = last === 'key' && keyKinds.has(words.at(-2) ?? '')
  if (!secrets.has(last) && !isKey) return null
  return { step_type: 'step.credential', verb: 'GET', doubts: ['type'] }
}

const checks = new Set(['validate', 'verify'])
const partsOfMessage = new Set([...facts, 'attachment', 'attachments', 'body', 'text'])

function messageRead({ own, all }: NameWords, act: Act | null): Guess | null {
  if (act === null || act.verb !== 'GET' || checks.has(act.word ?? '')) return null
  const subject = subjectOf(own, act)
  const bare = subject.length === 0 && (hasOne(all, messages) || has(all, messengers))
  const last = subject.findLast((word) => !partsOfMessage.has(word)) ?? ''
  if (!bare && !messages.has(singular(last))) return null
  const doubts: DoubtCode[] = [...doubtsOf(act), 'unlabelled']
  return { step_type: 'step.message', verb: 'GET', doubts, suggested: ofOthers }
}

/** The object that the tool reads: the words without the verb, up to a preposition. */
function subjectOf(own: readonly string[], { word }: Act): string[] {
  const rest = own.filter((candidate) => candidate !== word)
  const end = rest.findIndex((candidate, index) => index > 0 && prepositions.has(candidate))
  return end < 0 ? rest : rest.slice(0, end)
}

function resource({ own }: NameWords, act: Act | null): Guess {
  if (act === null) return { step_type: 'step.resource', verb: 'POST', doubts: ['unknown'] }
  const { verb } = act
  // `intranet_search` and `download_report` read what the name does not show.
  const isBare = own.length === 1 ? bareReads.has(own[0] ?? '') : endsOpen(own) || act.word === 'download'
  if (verb !== 'GET' || !(isBare || hasOne(subjectOf(own, act), writtenByOthers)))
    return { step_type: 'step.resource', verb, doubts: doubtsOf(act) }
  const doubts: DoubtCode[] = [...doubtsOf(act), 'unlabelled']
  return { step_type: 'step.resource', verb, doubts, suggested: ofOthers }
}

/** True for `drive_search` and `wiki_fetch`: the first word is a place as often as a thing. */
function endsOpen(own: readonly string[]): boolean {
  const last = own.at(-1) ?? ''
  return last === 'search' || last === 'fetch'
}
