// Reads untrusted YAML: one document of plain data, with bounded expansion and a position for each value.
import type { Document, LineCounter } from 'yaml'
import { tidy } from '../../check/quote.js'
import type { FindingId } from '../../findings/kinds.js'
import { documentsOf, LimitExceeded } from './bounded-yaml.js'
import type { Fault } from './fault-context.js'
import { hazards } from './hazards.js'
import { offsetOf, plainSourceOf } from './locate.js'
import { plainValue, targetsOf } from './tree.js'
import { yaml } from './yaml.js'
import { faultOf } from './yaml-faults.js'

export interface Position {
  readonly line: number
  readonly column: number
}

export interface YamlProblem extends Position {
  readonly id: FindingId
  readonly message: string
}

export interface YamlReading {
  /** The plain value; null when `problems` is not empty. */
  readonly value: unknown
  readonly problems: readonly YamlProblem[]
  /** Parts that are accepted and probably not intended. */
  readonly remarks: readonly YamlProblem[]
  /** Position of the value at a path, or of its name; that of the nearest parent for a missing value. */
  readonly positionOf: (path: readonly string[], at_key: boolean) => Position
  /** The source text of a top-level value that is a plain scalar; else null. */
  readonly plainSource: (key: string) => string | null
}

/** A thousand policies of ordinary length (docs/design/engine.md §4). */
const maxFileBytes = 256 * 1024
const maxFaults = 20
/** Size after expanding aliases, in characters and nodes. */
const maxExpandedSize = 4 * maxFileBytes

/** Parses YAML 1.2 text; never throws. */
export function readYaml(text: string): YamlReading {
  const { LineCounter } = yaml()
  const lines = new LineCounter()
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const reject = (id: FindingId, message: string, at: Position = { line: 1, column: 1 }): YamlReading => ({
    value: null,
    problems: [{ id, message, line: at.line, column: at.column }],
    remarks: [],
    positionOf: () => at,
    plainSource: () => null,
  })
  const unreadable = problemOfText(text)
  if (unreadable !== null) return reject(unreadable.id, unreadable.message, unreadable)
  try {
    const { documents, fault } = firstDocuments(text, lines)
    const [document, second] = documents
    if (document === undefined || document.contents === null)
      return reject('yaml-empty', 'the file is empty, or holds comments only')
    if (second !== undefined) {
      const several = 'the file holds more than one document: use one file each'
      const rejected = reject('yaml-documents', several, place(second.range[0]))
      if (fault === null) return rejected
      const { id, message, offset } = fault
      return { ...rejected, problems: [...rejected.problems, { id, message, ...place(offset) }] }
    }
    const faults = faultsOf(document, text)
    const found = faults.length > 0 ? { rejected: faults, remarks: [] } : hazards(document)
    const placed = ({ id, message, offset }: Fault): YamlProblem => ({ id, message, ...place(offset) })
    const problems = found.rejected.map(placed)
    const remarks = found.remarks.map(placed)
    const targets = targetsOf(document.contents)
    const positionOf = (path: readonly string[], at_key: boolean) => place(offsetOf(document, targets, path, at_key))
    const plainSource = (key: string) => plainSourceOf(document, key)
    if (problems.length > 0) return { value: null, problems, remarks, positionOf, plainSource }
    // Aliases become shared values, so the size is measured before anything expands.
    const value = plainValue(document.contents, targets)
    if (value === null) return reject('yaml-empty', 'the file is empty, or holds comments only')
    if (!isSmall(value)) return reject('over-limit', 'aliases expand too far: write the repeated parts out')
    return { value, problems, remarks, positionOf, plainSource }
  } catch (error) {
    if (error instanceof LimitExceeded) return reject('over-limit', error.message, place(error.offset))
    if (error instanceof RangeError) return reject('over-limit', 'the file is nested too deeply to be read: split it')
    return reject(
      'yaml-syntax',
      tidy(`the file cannot be read as YAML: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
}

/** The maximum number of documents that are searched for a fault. */
const maxDocuments = 50

/** The first documents of a text, and the first fault in them. */
function firstDocuments(text: string, lines: LineCounter) {
  const documents: Document.Parsed[] = []
  for (const document of documentsOf(text, lines)) {
    documents.push(document)
    if (documents.length === maxDocuments) break
  }
  const [fault = null] = documents.length < 2 ? [] : documents.flatMap((document) => faultsOf(document, text))
  return { documents, fault }
}

function problemOfText(text: string): YamlProblem | null {
  if (Buffer.byteLength(text) > maxFileBytes)
    return { id: 'over-limit', message: 'the file is larger than 256 KiB: split it', line: 1, column: 1 }
  const at = text.isWellFormed() ? text.search(/[^\P{Cc}\t\n\r\u0085]/u) : text.search(/\p{Cs}/u)
  if (at < 0) return null
  const before = text.slice(0, at).split('\n')
  const position = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  const message = text.isWellFormed()
    ? 'a control character, which YAML does not allow: remove it'
    : 'a lone surrogate, which is not valid text: remove it'
  return { id: 'yaml-character', message, ...position }
}

/** The errors of the YAML package: the first one, because the others mostly follow from it, or all tags. */
function faultsOf(document: Document.Parsed, text: string): Fault[] {
  const { version } = document.directives?.yaml ?? {}
  if (version !== '1.2')
    return [
      {
        id: 'yaml-syntax',
        message: `line 1 asks for YAML ${version}: remove the line that begins with %YAML`,
        offset: 0,
      },
    ]
  const faults = [...document.errors, ...document.warnings]
  const tags = faults.filter(({ code }) => code === 'TAG_RESOLVE_FAILED')
  const chosen =
    tags.length === faults.length ? tags.slice(0, maxFaults) : faults.filter((one) => !tags.includes(one)).slice(0, 1)
  return chosen.map((fault) => faultOf(fault, text))
}

/** False when the value with expanded aliases is larger than any manifest needs to be. */
function isSmall(value: unknown): boolean {
  const pending: unknown[] = [value]
  let size = 0
  for (let item = pending.pop(); item !== undefined && size <= maxExpandedSize; item = pending.pop()) {
    size += typeof item === 'string' ? item.length + 1 : 1
    if (typeof item !== 'object' || item === null) continue
    for (const [key, member] of Object.entries(item)) {
      size += key.length
      pending.push(member)
    }
  }
  return size <= maxExpandedSize
}
