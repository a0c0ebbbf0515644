// Which files of a folder are manifests: by their names, and one that names rules is, however it is broken.
import { isManifestInFolder, isYamlInFolder, looksLikeManifest } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'

const flow = '{"name":"A","version":"1","policies":[{"name":"P","rule_type":"not","params":{}}]'

describe('a file in a folder', () => {
  it.each([
    ['in block style', 'name: A\npolicies:\n  - name: P\n'],
    ['without its last bracket', flow],
    ['with a key twice', `${flow.slice(0, -1)}],"name":"B"}`],
    ['with a second document', `${flow}}\n---\n{}\n`],
    ['whose policies are misspelt', flow.replace('policies', 'policys')],
    ['that is a list', '- {name: P, rule_type: not}\n'],
    ['larger than the limit', `${flow}}${' '.repeat(300_000)}`],
  ])('is a manifest %s', (_, text) => expect(looksLikeManifest(text)).toBe(true))

  it.each([
    ['a workflow', 'on: push\njobs: {}\n'],
    ['many empty lines', '\n'.repeat(250_000)],
    ['many spaces', ' '.repeat(250_000)],
    ['many brackets', '{ '.repeat(125_000)],
  ])('is not a manifest with %s', (_, text) => expect(looksLikeManifest(text)).toBe(false))
})

describe('a path in a folder', () => {
  it.each([
    ['a.yaml', true, true],
    ['p/q/a.YML', true, true],
    ['node_modules.yaml', true, true],
    ['a.test.yaml', true, false],
    ['p/a.Test.YAML', true, false],
    ['a.json', false, false],
    ['a.yaml.orig', false, false],
    ['.a.yaml', false, false],
    ['p/.git/a.yaml', false, false],
    ['p/node_modules/q/a.yaml', false, false],
  ])('%s is read: %s, as a manifest: %s', (path, isRead, canBeManifest) =>
    expect([isYamlInFolder(path), isManifestInFolder(path)]).toEqual([isRead, canBeManifest]),
  )
})
