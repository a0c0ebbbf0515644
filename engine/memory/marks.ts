// Marks, by which a text is recognised when an agent reads it from its memory. Two texts share a mark when they share a
// sentence or a number, in any spelling that keeps the words. Stores keep digests of marks, never texts.
import { hash } from 'node:crypto'
import { bare } from '../rules/values/value-parts.js'
import { wordsOf } from '../rules/values/words.js'

/** Makes the digest of a mark; the key makes digests of one store useless for another. */
export type Digest = (mark: string) => string

/** 66 bits: among 50,000 marks of an agent, a text of 10,000 marks meets another one by chance once in 10^11 reads. */
const digestLength = 11

export function keyedDigest(key: string): Digest {
  return (mark) => hash('sha256', `${key} ${mark}`, 'base64url').slice(0, digestLength)
}

/** Characters of a name that count. */
const maxName = 1000

/** The mark of a name of an item; null for a text without letters and digits. */
export function nameMark(text: string): string | null {
  const words = lettersIn(text.slice(0, maxName))
  return words.length === 0 ? null : `name ${words.join(' ')}`
}

/** The marks of a text, each at most once. A key has no marks as a whole: agents share the keys of their tools. */
export function textMarks(text: string, is_key = false): Set<string> {
  const marks = new Set<string>()
  addRuns(marks, lettersIn(text))
  for (const number of numbersIn(text)) marks.add(`part ${number}`)
  for (const address of addressesIn(text)) marks.add(`part ${address}`)
  if (!is_key) for (const line of text.split('\n')) addShort(marks, line)
  return marks
}

/** The names that lines such as `rent: pay on the third` give to their text. */
export function namesInLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => /^[^:]{1,80}(?=:\s)/.exec(line)?.[0] ?? [])
}

/** A shorter run of words occurs in unrelated texts. */
const minRun = { words: 4, letters: 18 }

/** The shortest long enough run from each word; shorter texts have none. */
function addRuns(marks: Set<string>, words: readonly string[]): void {
  for (let start = 0; start < words.length; start++) {
    const end = endOfRun(words, start)
    if (end === null) return
    marks.add(`run ${words.slice(start, end).join(' ')}`)
  }
}

function endOfRun(words: readonly string[], start: number): number | null {
  let letters = 0
  for (let end = start; end < words.length; end++) {
    letters += weightOf(words[end] as string)
    if (end - start + 1 >= minRun.words && letters >= minRun.letters) return end + 1
  }
  return null
}

/** Begins a mark that unrelated texts share, such as that of `open`: a write is recognised by it when it has no other mark. */
const weak = 'word '

/** The marks by which a write is recognised; `is_named`: it has a name as well. */
export function marksToKeep(marks: ReadonlySet<string>, is_named: boolean): readonly string[] {
  const strong = [...marks].filter((mark) => !mark.startsWith(weak))
  return strong.length > 0 || is_named ? strong : [...marks]
}

/** A text of a few words is recognised as a whole, with or without a name before it. */
function addShort(marks: Set<string>, line: string): void {
  for (const text of [line, line.slice(line.indexOf(':') + 1)]) {
    const words = lettersIn(text)
    if (lettersIn(text.replaceAll(time, '')).length === 0 || endOfRun(words, 0) !== null) continue
    const letters = words.reduce((sum, word) => sum + weightOf(word), 0)
    const [only = '', ...others] = words
    const is_number = /\d/.test(only) && letters >= 4 && !/^(19|20)\d\d$/.test(only)
    const is_strong = others.length === 0 ? is_number : letters >= 8
    marks.add(`${is_strong ? 'whole ' : weak}${words.join(' ')}`)
  }
}

/** Dates and times, which unrelated texts share. */
const time = /\d{4}-\d\d?-\d\d?(T[\d:.,+-]*Z?)?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d?:\d\d(:\d\d)?/g
const minNumber = 6

/** Words with digits, and neighbours of such words joined: `DE89 3704` is `DE893704`. */
function numbersIn(text: string): string[] {
  const found: string[] = []
  let run: string[] = []
  const close = () => {
    const joined = run.join('')
    if (joined.length >= minNumber) found.push(joined)
    run = []
  }
  for (const word of lettersIn(text.replaceAll(time, ' time '))) {
    if (!/\d/.test(word)) {
      close()
      continue
    }
    if (word.length >= minNumber) found.push(word)
    run.push(word)
  }
  close()
  return found
}

const minAddress = 8

/** Mail and web addresses and file paths. */
function addressesIn(text: string): string[] {
  return text.split(/[\s"'<>`|,;()[\]{}]+/).flatMap((piece) => {
    const address = bare(piece).replace(/^(mailto:|[a-z][a-z+.-]*:\/\/)?(www\.)?/i, '')
    if (address.length < minAddress || !/[\p{L}\p{N}][@./\\]+[\p{L}\p{N}]/u.test(address)) return []
    return [lettersIn(address).join(' ')]
  })
}

/** Words of letters and digits. Scripts without spaces between words count by the character. */
function lettersIn(text: string): string[] {
  return wordsOf(text).flatMap((word) => {
    if (!/[\p{L}\p{N}]/u.test(word)) return []
    return unspaced.test(word) ? [...word] : [word]
  })
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** A character of such a script says as much as three letters. */
function weightOf(word: string): number {
  return unspaced.test(word) ? 3 : word.length
}
