// Reads the text exposition format 0.0.4 of Prometheus strictly: what is not valid throws.

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (NaN|[+-]?(?:Inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?))$/
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/

/** The samples by name and labels, as they are written. */
export function readExposition(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const values = new Map<string, number>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (comment !== null) {
      const [, word, name = '', rest = ''] = comment
      const known = word === 'HELP' ? helped.has(name) : types.has(name)
      if (known) throw new Error(`${word} of \`${name}\` comes twice`)
      if (word === 'HELP') helped.add(name)
      else types.set(name, rest)
      current = name
      continue
    }
    const [, name = '', braces = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
    if (name === '') throw new Error(`not a sample: \`${line}\``)
    const type = types.get(current)
    const family = type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name
    if (family !== current || !helped.has(current)) throw new Error(`\`${name}\` has no HELP and TYPE before it`)
    if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter \`${name}\` must end in _total`)
    assertLabels(labels)
    if (values.has(name + braces)) throw new Error(`\`${name}${braces}\` comes twice`)
    values.set(name + braces, Number(value.replace('Inf', 'Infinity')))
  }
  for (const [name, type] of types) if (type === 'histogram') assertHistogram(name, values)
  return values
}

function assertLabels(text: string): void {
  const names = new Set<string>()
  for (let rest = text; rest !== ''; ) {
    const [whole = '', name = ''] = labelPair.exec(rest) ?? []
    if (whole === '' || names.has(name)) throw new Error(`not labels: \`${text}\``)
    names.add(name)
    rest = rest.slice(whole.length)
  }
}

/** Buckets never decrease, and the last one equals the count. */
function assertHistogram(name: string, values: ReadonlyMap<string, number>): void {
  const series = new Map<string, number[]>()
  for (const [key, value] of values) {
    const match = new RegExp(`^${name}_bucket\\{(.*?),?le="([^"]+)"\\}$`).exec(key)
    if (match === null) continue
    const [, labels = ''] = match
    series.set(labels, [...(series.get(labels) ?? []), value])
  }
  for (const [labels, buckets] of series) {
    const count = values.get(`${name}_count${labels === '' ? '' : `{${labels}}`}`)
    const ascends = buckets.every((value, index) => value >= (buckets[index - 1] ?? 0))
    if (!ascends || buckets.at(-1) !== count) throw new Error(`the buckets of \`${name}{${labels}}\` are wrong`)
  }
}
