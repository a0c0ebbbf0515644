// Collects the findings of one file.
import { byPlace, type Finding } from '../../findings/finding.js'
import { type FindingId, severityOf } from '../../findings/kinds.js'
import type { YamlReading } from '../yaml/read-yaml.js'

export interface Notes {
  readonly add: (id: FindingId, path: readonly string[], message: string, at_key?: boolean) => void
  readonly hasErrors: () => boolean
  /** In the order of the text. */
  readonly found: () => { readonly errors: readonly Finding[]; readonly warnings: readonly Finding[] }
}

/** A hostile file could have one error per character. */
const maxErrors = 1000

export function newNotes(yaml: YamlReading, file: string): Notes {
  const errors: Finding[] = []
  const warnings: Finding[] = []
  const listOf = (id: FindingId) => (severityOf(id) === 'error' ? errors : warnings)
  for (const problem of yaml.problems) errors.push({ severity: 'error', file, path: '', ...problem })
  for (const remark of yaml.remarks) warnings.push({ severity: severityOf(remark.id), file, path: '', ...remark })
  return {
    add: (id, path, message, at_key = false) => {
      const list = listOf(id)
      if (list.length >= maxErrors) return
      list.push({ id, severity: severityOf(id), message, file, ...yaml.positionOf(path, at_key), path: path.join('.') })
    },
    hasErrors: () => errors.length > 0,
    found: () => ({ errors: errors.toSorted(byPlace), warnings: warnings.toSorted(byPlace) }),
  }
}
