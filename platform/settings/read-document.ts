// Reads a document of settings: strict YAML, then its schema. An error names the field, its line and the remedy.
import { createChecker, fieldProblem, readYaml } from '@svc/engine/parts'
import { documents, type SettingsDocument } from '@svc/schemas'
import { type FieldError, invalid, PlatformError } from '../errors.js'

const schemas = ['settings-document', 'retention-request', 'action-request', 'action-kind', 'view-request'] as const
const check = createChecker(
  schemas.map((name) => documents[name]),
  'yaml',
)
const maxErrors = 50

export interface ReadDocument {
  readonly document: SettingsDocument
  /** The 1-based line of a field, such as `actions.0.name`. */
  readonly lineOf: (path: string) => number
  /** An error at the line of its field. */
  readonly placed: (error: FieldError) => FieldError
}

/** Throws INVALID naming every field that is wrong. */
export function readDocument(text: string): ReadDocument {
  const { value, problems, positionOf } = readYaml(text)
  if (problems.length > 0) throw invalid(problems.slice(0, maxErrors).map((one) => ({ path: 'text', ...one })))
  const wrong = check('settings-document.json')(value)
  if (wrong.length > 0)
    throw inOrder(wrong.map((one) => ({ ...fieldProblem(one), ...positionOf(one.path, one.at_key) })))
  const at = (path: string) => positionOf(path.split('.'), false)
  return {
    document: value as SettingsDocument,
    lineOf: (path) => at(path).line,
    placed: (error) => ({ ...error, ...at(error.path) }),
  }
}

/** INVALID, with the errors in the order of the text. */
function inOrder(errors: readonly FieldError[]): PlatformError {
  const sorted = [...errors].sort((one, other) => (one.line ?? 0) - (other.line ?? 0))
  return invalid(sorted.slice(0, maxErrors))
}

/** What is wrong with a document beyond its schema, collected so that one answer names it all. */
export interface Rejections {
  readonly add: (path: string, message: string) => void
  /** The result of the work on the field; null if it rejects the field. */
  readonly within: <T>(path: string, work: () => T | Promise<T>) => Promise<T | null>
  /** Throws INVALID if there is any. */
  readonly assertNone: () => void
}

export function createRejections({ placed }: ReadDocument): Rejections {
  const found: FieldError[] = []
  return {
    add: (path, message) => void found.push(placed({ path, message })),
    within: async (path, work) => {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof PlatformError) || !['INVALID', 'CONFLICT'].includes(error.code)) throw error
        const errors = error.errors.length > 0 ? error.errors : [{ path: '', message: error.message }]
        for (const one of errors) found.push(placed({ ...one, path: one.path === '' ? path : `${path}.${one.path}` }))
        return null
      }
    },
    assertNone: () => {
      if (found.length > 0) throw inOrder(found)
    },
  }
}
