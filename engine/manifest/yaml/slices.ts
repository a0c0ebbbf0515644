// Composes YAML of any depth. The composer of the package recurses for each level and overflows the stack after some
// hundreds of them, so deep parts are cut out of the syntax tree, composed one by one, and put back.
import type { Composer, CST, Document, Node, Scalar } from 'yaml'
import { yaml } from './yaml.js'

type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection
type Cuts = Map<number, Collection>
type Options = ConstructorParameters<typeof Composer>[0]

/** Levels composed at a time: the composer takes 1 KB of stack for one, and manifests of ordinary depth are one slice. */
const sliceDepth = 64
/** The scalar in place of a cut part; its offset identifies the part. */
const mark = 'svc-cut'

/** Documents of a stream of tokens, each composed on demand. */
export function* composeSlices(tokens: Iterable<CST.Token>, options: Options): Generator<Document.Parsed> {
  const { Composer } = yaml()
  const cuts: Cuts = new Map()
  for (const document of new Composer(options).compose(cutAll(tokens, cuts))) {
    if (cuts.size > 0) putBack(document, cuts, options)
    yield document
  }
}

function* cutAll(tokens: Iterable<CST.Token>, cuts: Cuts): Generator<CST.Token> {
  for (const token of tokens) {
    if (token.type === 'document' && isPart(token.value)) cut(token.value, cuts)
    yield token
  }
}

function cut(root: Collection, cuts: Cuts): void {
  const pending = [{ part: root, depth: 1 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { part, depth } = next
    for (const item of part.items as { key?: CST.Token | null; value?: CST.Token }[]) {
      const { key, value } = item
      // A key that is a collection is an error at any depth; its content does not matter.
      if (isPart(key) && depth >= sliceDepth) item.key = { ...emptyFlow, offset: key.offset }
      else if (isPart(key)) pending.push({ part: key, depth: depth + 1 })
      if (!isPart(value)) continue
      if (depth < sliceDepth) pending.push({ part: value, depth: depth + 1 })
      else {
        cuts.set(value.offset, value)
        item.value = { type: 'scalar', offset: value.offset, indent: value.indent, source: mark }
        pending.push({ part: value, depth: 1 })
      }
    }
  }
}

const emptyFlow: CST.FlowCollection = {
  type: 'flow-collection',
  offset: 0,
  indent: 0,
  start: { type: 'flow-map-start', offset: 0, indent: 0, source: '{' },
  items: [],
  end: [{ type: 'flow-map-end', offset: 0, indent: 0, source: '}' }],
}

function isPart(token: CST.Token | null | undefined): token is Collection {
  return token?.type === 'block-map' || token?.type === 'block-seq' || token?.type === 'flow-collection'
}

function putBack(document: Document.Parsed, cuts: Cuts, options: Options): void {
  const { Composer, isCollection, isMap, isScalar, isSeq } = yaml()
  const partOf = (node: unknown): Node | null => {
    const token = isScalar(node) && node.source === mark ? cuts.get(node.range?.[0] ?? -1) : undefined
    if (token === undefined) return null
    const whole: CST.Document = { type: 'document', offset: token.offset, start: [], value: token }
    const [part] = new Composer(options).compose([whole])
    document.errors.push(...(part?.errors ?? []))
    document.warnings.push(...(part?.warnings ?? []))
    const { anchor } = node as Scalar
    const contents = part?.contents ?? null
    if (isCollection(contents) && anchor !== undefined) contents.anchor = anchor
    return contents
  }
  const pending: unknown[] = [document.contents]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (isMap(node)) {
      for (const pair of node.items) {
        pair.value = (partOf(pair.value) as typeof pair.value) ?? pair.value
        pending.push(pair.key, pair.value)
      }
    } else if (isSeq(node)) {
      node.items = node.items.map((item) => partOf(item) ?? item)
      pending.push(...node.items)
    }
  }
}
