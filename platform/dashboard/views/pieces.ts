// Pieces that several pages show: facts, small tables, texts to copy, and the question before an act that cannot be undone.
import { type Html, piece, text } from './html.js'

/** Names with values, in a narrow column below each other; a fact without a value is left out. */
export function facts(
  list: readonly (readonly [name: string, value: Html | null])[],
  width: 'wide' | 'narrow' = 'wide',
): Html {
  const known = list.filter((fact): fact is readonly [string, Html] => fact[1] !== null)
  return factsView({ facts: known.map(([name, value]) => ({ name, value })), is_narrow: width === 'narrow' })
}

const factsView = piece(
  '<dl class="facts{{#if is_narrow}} narrow{{/if}}">{{#each facts}}<dt>{{name}}</dt><dd>{{value}}</dd>{{/each}}</dl>',
)

/** A text, such as commands or a key, which a button copies whole. */
export function copyable(label: string, content: string): Html {
  return copyableView({ label, content })
}

const copyableView =
  piece(`<div class="copyable"><pre class="json" tabindex="0" aria-label="{{label}}"><code>{{content}}</code></pre>
<button type="button" class="copy" data-copy="{{content}}" aria-label="Copy: {{label}}" hidden></button></div>`)

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => Html
}

/** A table that is shown whole; the sentence `empty` without rows. */
export function table<Row>(label: string, columns: readonly Column<Row>[], rows: readonly Row[], empty: string): Html {
  if (rows.length === 0) return emptyView({ empty })
  return tableView({
    label,
    heads: columns.map(({ head }) => head),
    rows: rows.map((row) => ({ cells: columns.map(({ head, cell }) => ({ head, cell: cell(row) })) })),
  })
}

const emptyView = piece('<p class="text-secondary mb-0">{{empty}}</p>')
const tableView =
  piece(`<div class="table-responsive" tabindex="0" role="region" aria-label="{{label}}"><table class="table table-vcenter rows"><thead><tr>
{{#each heads}}<th scope="col">{{this}}</th>{{/each}}</tr></thead><tbody>
{{#each rows}}<tr>{{#each cells}}<td data-label="{{head}}">{{cell}}</td>{{/each}}</tr>
{{/each}}</tbody></table></div>`)

/** A card with a heading. */
export function card(title: string, content: Html): Html {
  return cardView({ title, content, isTable: content.toHTML().startsWith('<div class="table-responsive"') })
}

const cardView = piece(`<section class="card"><div class="card-header"><h2 class="card-title">{{title}}</h2></div>
{{#if isTable}}{{content}}{{else}}<div class="card-body">{{content}}</div>{{/if}}</section>
`)

export interface Question {
  readonly title: string
  /** What the act does, one sentence each. */
  readonly effects: readonly (string | Html)[]
  readonly act: string
  readonly button: string
  /** The address of the page without the question. */
  readonly back: string
  /** Further fields of the form. */
  readonly fields?: Readonly<Record<string, string>>
  /** False for an act that can be undone. */
  readonly isFinal?: boolean
}

/** The page that asks before an act: it says exactly what happens. */
export function question(
  { csrf }: { readonly csrf: string },
  { title, effects, act, button, back, fields = {}, isFinal = true }: Question,
): Html {
  return questionView({
    title,
    effects: effects.map((one) => (typeof one === 'string' ? text(one) : one)),
    csrf,
    act,
    button,
    back,
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    isFinal,
  })
}

const questionView = piece(`<section class="card question"><div class="card-body"><h2>{{title}}</h2>
<ul>{{#each effects}}<li>{{this}}</li>{{/each}}</ul>
<form method="post"><input type="hidden" name="csrf" value="{{csrf}}">
{{#each fields}}<input type="hidden" name="{{name}}" value="{{value}}">{{/each}}
<div class="btn-list"><button class="btn {{#if isFinal}}btn-danger{{else}}btn-primary{{/if}}" name="act" value="{{act}}">{{button}}</button>
<a class="btn" href="{{back}}">Cancel</a></div></form></div></section>
`)
