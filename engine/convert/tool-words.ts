// The words that names of tools are made of. A new word belongs here; how words combine is in tool-guess.ts.
import type { Behavior } from '@svc/schemas'

export type Verb = NonNullable<Behavior['verb']>

const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

type VerbWords = Readonly<Record<Verb, ReadonlySet<string>>>

/** Words that are verbs wherever they are in a name. */
export const verbWords: VerbWords = {
  GET: setOf(`analyse analyze assess browse classify compare crawl describe detect determine download estimate
    examine explain explore extract fetch find get glob goto grep identify inspect investigate locate lookup monitor
    navigate observe predict read recommend retrieve scan scrape suggest summarise summarize translate validate
    verify`),
  POST: setOf(`add append apply approve authorize buy create deploy donate enroll escalate hire insert install make
    notify onboard publish redeem register reserve resend respond save send sell submit subscribe write`),
  PATCH: setOf(`activate adjust assign configure correct deactivate decline decrement demote disable edit enable extend
    fix increment mark migrate modify mute pause promote reject rename replace reschedule reset resolve restart restore
    rotate suspend toggle unarchive unassign unlock unmute update`),
  DELETE: setOf(`cancel clear delete destroy discard dismiss erase evict kill purge remove revoke terminate truncate
    uninstall unlink unsubscribe wipe`),
}

/** Words that are verbs or nouns, such as `order`: verbs in the first place, seldom in others. */
export const verbsOrNouns: VerbWords = {
  GET: setOf(`can cat check count diff display evaluate exists filter forecast has head is list ls match measure open peek ping
    preview probe query rank research review screenshot search show snapshot sort stat tail trace track view visit`),
  POST: setOf(`alert backup bid book call charge checkin checkout claim clone comment commit contact copy deposit draft
    email exchange export file follow forward import invite issue launch like log login mail merge message note order pay place
    post print purchase push rate react record refund reply report request return schedule share ship sign signup start
    store trade transfer trigger tweet upload vote wire withdraw`),
  PATCH: setOf(
    'archive ban block change downgrade lock move patch resume rollback scale set shutdown stop swap turn upgrade',
  ),
  DELETE: setOf('close drop trash void'),
}

/** Words of `verbsOrNouns` that are nouns as often, also in the first place: `file_content`, `message_count`. */
export const mostlyNouns =
  setOf(`alert backup call checkin checkout claim comment contact draft email file issue like log
  login mail message note rate record report request signup store trade`)

/** Words of `verbsOrNouns` that end names of reads: `flight_search`, `orders_list`. */
export const readEndings = setOf('check count list query search show view')

/** Nouns that end names of reads, also after a verb that is a noun: `order_status`. */
export const states = setOf('availability history status')

/** Nouns that end names of reads without a verb: `file_content`. */
export const facts = setOf(`availability balance content contents data description detail details history info
  information metadata price status summary`)

/** Words that may change something or only read it. */
export const doubtfulVerbs = setOf('evaluate ping resolve snapshot')

/** Words between two verbs. */
export const conjunctions = setOf('and or then')

/** Things that `open` creates; it shows other things. */
export const openedAnew = setOf(`account case chat claim conversation dispute incident issue loan order position pr pull
  request session ticket trade`)

/** Two words that are one verb. */
export const phrases: Readonly<Record<string, string>> = {
  'back up': 'backup',
  'check in': 'checkin',
  'check off': 'mark',
  'check out': 'checkout',
  'clean up': 'clear',
  'go to': 'goto',
  'log in': 'login',
  'look up': 'lookup',
  'roll back': 'rollback',
  'set up': 'create',
  'shut down': 'shutdown',
  'sign up': 'signup',
}

/** Names that are written without a break. */
export const compounds: Readonly<Record<string, readonly string[]>> = {
  readfile: ['read', 'file'],
  sendemail: ['send', 'email'],
  sendmail: ['send', 'mail'],
  sendmessage: ['send', 'message'],
  webfetch: ['web', 'fetch'],
  websearch: ['web', 'search'],
  writefile: ['write', 'file'],
}

/** Words that say nothing about the effect of a tool. */
export const emptyWords = setOf('action call function functions mcp tool tools')

/** Words after which a name says how, not what: `get_order_by_email`. */
export const prepositions = setOf('as at by for from in into on to using via with')

export const interpreters = setOf(`bash cmd ipython jupyter powershell python repl sandbox sh shell subprocess terminal
  zsh`)
export const runs = setOf('eval exec execute run')
export const programs = setOf('code command commands interpreter script')
/** Words that names of interpreters have besides. */
export const interpreterWords = setOf('ast container in local remote the')
export const statements = setOf('database db mysql postgres query sql sqlite statement')

/** First words of tools that use known data and change nothing (docs/design/engine.md §10). */
export const thoughts = setOf('calculate plan reflect scratchpad sequentialthinking think thinking')
export const memories = setOf('memory memorize recall remember')
/** With these, `memory` is that of a computer. */
export const gauges = setOf('alert leak limit metric metrics stats usage')

export const secrets = setOf('apikey credential otp passcode passphrase password secret token')
export const keyKinds = setOf('access api encryption private secret ssh')
export const secretReads = setOf('fetch get read retrieve')

export const messages = setOf(`chat conversation dm email inbox mail mailbox message mms notification reply sms thread
  voicemail`)
/** Applications whose content is messages; they name tools such as `gmail.send`. */
export const messengers = setOf('discord gmail imessage outlook slack teams telegram twilio whatsapp')

/** Content that people outside may have written, as tools name it. */
export const writtenByOthers =
  setOf(`application article attachment calendar channel clipboard comment complaint content contents cv
  diff doc document drive event feed feedback file form gist invitation invite issue log news page pdf post pr pull readme repo
  repository resource response resume review rss submission survey ticket transcript tweet wiki`)

export const webWords = setOf('browser http https internet url web webpage website')
export const searchEngines = setOf('bing brave duckduckgo exa google serp serpapi serper tavily wikipedia')
/** Words that a name of a web search has besides the search engine. */
export const searchWords = setOf('ai api custom image images json page query result results search summary web')
export const pages = setOf('link page site tab')
export const pageReads = setOf('browse crawl fetch follow goto navigate open scrape visit')
/** Verbs that only the web has. */
export const webVerbs = setOf('crawl goto navigate scrape')
/** Names of one word that are tools of the web. */
export const webNames = setOf('browse crawl fetch goto navigate scrape visit')
/** Names of one word that read what the name does not show. */
export const bareReads = setOf('cat grep head open read search tail view')
