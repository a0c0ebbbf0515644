// Every kind of finding. A new one is an entry in one of these lists; no other file lists them.
import { analysisKinds } from './analysis-kinds.js'
import type { FindingKind, Severity } from './kind.js'
import { manifestKinds } from './manifest-kinds.js'
import { testKinds } from './test-kinds.js'
import { yamlKinds } from './yaml-kinds.js'

export const findingKinds = [...yamlKinds, ...manifestKinds, ...testKinds, ...analysisKinds]

export type FindingId = (typeof findingKinds)[number]['id']

const byId = new Map<string, FindingKind<FindingId>>(findingKinds.map((kind) => [kind.id, kind]))

/** The kind with that id; undefined for another text. */
export function findingKind(id: string): FindingKind<FindingId> | undefined {
  return byId.get(id)
}

export function severityOf(id: FindingId): Severity {
  return byId.get(id)?.severity ?? 'error'
}
