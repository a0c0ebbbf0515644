// Manifests of the analysis cases, and the analysis of texts.
import { readFileSync } from 'node:fs'
import { type compile, onAgent, parseManifest } from '@svc/engine'
import { type Analysis, analyse } from '@svc/engine/parts'
import type { JsonMap } from '@svc/schemas'
import { parse, stringify } from 'yaml'

export interface Fault {
  readonly name: string
  readonly finds: { readonly id: string; readonly policy: string; readonly other?: string }
  readonly policies: readonly JsonMap[]
}

export interface Honest {
  readonly name: string
  readonly policies: readonly JsonMap[]
}

/** The entries of a file of test/cases/check/. */
export function casesIn<T>(file: string): readonly T[] {
  return parse(readFileSync(new URL(`../../cases/check/${file}`, import.meta.url), 'utf8')) as T[]
}

/** The manifest of a case, with the scope and severity that its policies leave out. */
export function manifestOf({ name, policies }: Honest): string {
  const filled = policies.map((policy) => ({ scope: 'step_execution', severity: 'critical', ...policy }))
  return stringify({ name, version: '1.0.0', policies: filled })
}

/** The analysis of the texts as one set. Throws for a text with errors. */
export function analysisOf(...texts: readonly string[]): Analysis {
  return analyse(
    texts.map((text, index) => {
      const file = `manifest-${index + 1}.yaml`
      const reading = parseManifest(text, file)
      if (reading.errors.length > 0) throw new Error(JSON.stringify(reading.errors))
      return { file, text, reading }
    }),
  )
}

/** The policies of a text as the engine compiles them for an agent, ids from 1. */
export function inputsOf(text: string, agent: JsonMap): Parameters<typeof compile>[0] {
  const { value } = parseManifest(text, 'manifest.yaml')
  if (value === null) throw new Error('the manifest is invalid')
  return onAgent(value, agent).set.policies.map(({ policy }) => policy)
}
