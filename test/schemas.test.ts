// Schemas are right, examples fit them, and components are in their packages.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rules } from '@svc/engine'
import { components, documents, productVersion } from '@svc/schemas'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'

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

describe('components', () => {
  it.each(components.filter(({ planned }) => !planned))('$name is in $package', ({ package: name }) => {
    const file = fileURLToPath(new URL(`../${name.replace('@svc/', '')}/package.json`, import.meta.url))
    expect((JSON.parse(readFileSync(file, 'utf8')) as { name: string }).name).toBe(name)
  })
})

describe('the version of the product', () => {
  const manifestOf = (folder: string) =>
    JSON.parse(readFileSync(fileURLToPath(new URL(`../${folder}package.json`, import.meta.url)), 'utf8')) as {
      version?: string
      dependencies?: Record<string, string>
      workspaces?: string[]
    }

  it('is that of every package, and of its dependencies in this repository', () => {
    const root = manifestOf('')
    expect(root.version).toBe(productVersion)
    for (const folder of root.workspaces ?? []) {
      const { version = productVersion, dependencies = {} } = manifestOf(`${folder}/`)
      const own = Object.entries(dependencies).filter(([name, range]) => name.startsWith('@svc/') && range !== '*')
      expect([folder, version, own.filter(([, range]) => range !== productVersion)]).toEqual([
        folder,
        productVersion,
        [],
      ])
    }
  })
})
