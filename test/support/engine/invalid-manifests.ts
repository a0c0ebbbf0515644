// The manifests of test/cases/manifests/invalid with their expected findings.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Finding } from '@svc/engine/parts'
import { parse } from 'yaml'

export type Place = Pick<Finding, 'id' | 'line' | 'column' | 'message'>

const cases = new URL('../../cases/manifests/', import.meta.url)

/** The folder of the files. */
export const invalidFolder = fileURLToPath(new URL('invalid/', cases))

export const expectedFindings = parse(readFileSync(new URL('invalid.yaml', cases), 'utf8')) as Record<string, Place[]>

/** The files, by name and sorted. */
export const invalidManifests = readdirSync(invalidFolder)
  .sort()
  .map((path) => ({ path, named: true, text: readFileSync(`${invalidFolder}/${path}`, 'utf8') }))

/** The findings without what every finding of a file shares. */
export function placesOf(findings: readonly Finding[]): Place[] {
  return findings.map(({ id, line, column, message }) => ({ id, line, column, message }))
}
