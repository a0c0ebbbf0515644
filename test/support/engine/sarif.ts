// The schema of SARIF 2.1.0, where it is at hand.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { sharedData } from '../server/shared.js'

const path = sharedData('sarif/sarif-schema-2.1.0.json')

/** The problems of a log; null without the schema. */
export const sarifProblems = path === null ? null : checkWith(path)

function checkWith(file: string): (log: unknown) => readonly string[] {
  // Its patterns have escapes that are errors in Unicode mode.
  const ajv = new Ajv({ strict: false, unicodeRegExp: false, validateFormats: false })
  // Of draft 4 it uses only what later drafts have too.
  const { $schema: _, id: __, ...schema } = JSON.parse(readFileSync(file, 'utf8'))
  const validate = ajv.compile(schema)
  return (log) => {
    validate(JSON.parse(JSON.stringify(log)))
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}
