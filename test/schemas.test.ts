// Schemas are right, examples fit them, and versions say what the packages say.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rules } from '@svc/engine'
import { documents } from '@svc/schemas'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { version as cliVersion } from '../cli/version.js'
import { version as engineVersion } from '../engine/version.js'
import { version as platformVersion } from '../platform/version.js'

const ajv = new Ajv2020({ strict: false })

describe('the schemas', () => {
  it.each(Object.entries(documents))('%s is JSON Schema 2020-12, named after its file', (name, document) => {
    expect(ajv.validateSchema(document)).toBe(true)
    expect(document.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(document.$id).toBe(`${name}.json`)
  })

  it.each(rules.map((rule) => [rule.name, rule] as const))(
    'the parameters of %s are JSON Schema, and its example fits',
    (_, rule) => {
      expect(ajv.validateSchema(rule.params)).toBe(true)
      expect(ajv.validate(rule.params, rule.example)).toBe(true)
      expect(rule.doc).toMatch(/^[A-Z].*\.$/)
    },
  )
})

describe('versions', () => {
  it.each([
    ['cli', cliVersion],
    ['engine', engineVersion],
    ['platform', platformVersion],
  ])('%s is what its package says', (name, version) => {
    const file = fileURLToPath(new URL(`../${name}/package.json`, import.meta.url))
    expect(version).toBe((JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version)
  })
})
