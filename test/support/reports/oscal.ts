// Reads a report in OSCAL back, with two parsers that share nothing, and makes its content again from the properties.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Element, xml2js } from 'xml-js'
import { decodeText } from '../../../report/oscal/text.js'

export interface Tree {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** Text directly inside; white space between elements is left out. */
  readonly text: string
  readonly children: readonly Tree[]
}

const schema = fileURLToPath(
  new URL('../../../../shared/data/oscal/oscal_assessment-results_schema.xsd', import.meta.url),
)
const hasProgram = (name: string) => spawnSync(name, ['--version']).error === undefined

export const canValidate = existsSync(schema) && hasProgram('xmllint')
export const hasPython = hasProgram('python3')

/** What xmllint finds wrong with a document; empty when it is valid. */
export function schemaErrors(xml: string): string {
  const { status, stderr } = spawnSync('xmllint', ['--noout', '--schema', schema, '-'], {
    input: xml,
    encoding: 'utf8',
  })
  return status === 0 ? '' : stderr.slice(0, 2_000)
}

export function treeByXmlJs(xml: string): Tree {
  const [root] = (xml2js(xml) as Element).elements ?? []
  if (root === undefined) throw new Error('no root')
  return treeOf(root)
}

function treeOf({ name = '', attributes = {}, elements = [] }: Element): Tree {
  const text = elements.map((one) => (one.type === 'text' ? String(one.text) : '')).join('')
  const children = elements.filter(({ type }) => type === 'element').map(treeOf)
  return { name, attributes: attributes as Record<string, string>, text, children }
}

const program = `
import json, sys, xml.etree.ElementTree as E
def tree(e):
  text = (e.text or '') + ''.join(c.tail or '' for c in e)
  return {'name': e.tag.split('}')[-1], 'attributes': dict(e.attrib), 'text': '' if len(e) else text, 'children': [tree(c) for c in e]}
json.dump(tree(E.fromstring(sys.stdin.buffer.read())), sys.stdout)
`

/** The same by Python's expat, which lists no declaration of a namespace. */
export function treeByPython(xml: string): Tree {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', program], {
    input: xml,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Tree
}

export interface Property {
  readonly name: string
  readonly value: string
  readonly class?: string | undefined
}

/** The properties of each element that has some. */
export function propertiesOfTree(tree: Tree): Property[][] {
  const own = tree.children
    .filter(({ name }) => name === 'prop')
    .map(({ attributes: { name = '', value = '', class: type } }) => ({ name, value, class: type }))
  return [...(own.length > 0 ? [own] : []), ...tree.children.flatMap(propertiesOfTree)]
}

/** The same of a document in JSON. */
export function propertiesOfJson(value: unknown): Property[][] {
  if (typeof value !== 'object' || value === null) return []
  const { props = [] } = value as { props?: Property[] }
  return [...(props.length > 0 ? [props] : []), ...Object.values(value).flatMap(propertiesOfJson)]
}

interface Place {
  readonly parts: Map<string, Place>
  value?: string
  type?: string | undefined
}

/** The content of a report, made again from its properties. */
export function contentOf(lists: readonly (readonly Property[])[]): unknown {
  const root: Place = { parts: new Map() }
  for (const list of lists) {
    const at = list.find(({ name, class: type }) => name === 'at' && type === 'path')?.value
    if (at === undefined) continue
    for (const { name, value, class: type } of list) {
      if (type === 'path' || type === 'about') continue
      const place = [...at.split('.'), ...name.split('.')].reduce(partOf, root)
      if (place.value !== undefined) throw new Error(`${at} ${name} is given twice`)
      place.value = decodeText(value)
      place.type = type
    }
  }
  return contentAt(root)
}

function partOf(place: Place, key: string): Place {
  const found = place.parts.get(key) ?? { parts: new Map() }
  place.parts.set(key, found)
  return found
}

function contentAt({ parts, value, type }: Place): unknown {
  const items = () =>
    Array.from({ length: Number(value) }, (_, index) => contentAt(parts.get(String(index)) ?? { parts }))
  if (type === 'list') return items()
  if (type === 'map')
    return Object.fromEntries((items() as { key: string; count: number }[]).map(({ key, count }) => [key, count]))
  if (type === 'number') return Number(value)
  if (type === 'boolean') return value === 'true'
  if (type === 'null') return null
  return value ?? Object.fromEntries([...parts].map(([key, part]) => [key, contentAt(part)]))
}
