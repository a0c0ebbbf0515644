// Fields of forms: each with its label, a hint, the values that were typed, and what the API rejects in it.
import type { FieldError } from '../../errors.js'
import { type Html, nothing, piece, ticked } from './html.js'
import { sentenceOf } from './page.js'

export interface FormField {
  /** The name in the form, and the path in errors of the API. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly kind: 'line' | 'number' | 'lines' | 'text' | 'json' | 'choice' | 'checks'
  readonly required?: boolean
  /** Values of a choice and of checks: a value and its label. */
  readonly values?: readonly (readonly [value: string, label: string])[]
  /** The list of words that the browser proposes. */
  readonly words?: string
  /** Lines of an empty text. */
  readonly rows?: number
}

/** A field with what is in it: one value, and several of checks. */
export function fieldView(field: FormField, values: readonly string[], errors: readonly FieldError[]): Html {
  const { name, label, hint = '', kind, required = false, words = '' } = field
  const wrong = errors.filter(({ path }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))
  const found = wrong.map(({ path, message }) => sentenceOf(path === name ? message : `\`${path}\` ${message}`))
  const shown = {
    id: `field-${name.replaceAll('.', '-')}`,
    name,
    label,
    hint: ticked(hint),
    has_hint: hint !== '',
    required,
    words,
    value: values[0] ?? '',
    errors: found,
    is_wrong: found.length > 0,
    described: [hint === '' ? [] : ['hint'], found.length > 0 ? ['error'] : []]
      .flat()
      .map((part) => `field-${name.replaceAll('.', '-')}-${part}`)
      .join(' '),
    options: optionsOf(field, values),
    // Long labels are read faster below each other.
    is_stacked: (field.values ?? []).some(([, text]) => text.length > 24),
    rows: Math.min(14, Math.max(field.rows ?? (kind === 'json' ? 4 : 3), (values[0] ?? '').split('\n').length + 1)),
    mono: kind === 'json' || kind === 'lines',
    numeric: kind === 'number',
    type: kind === 'number' ? 'number' : 'text',
    control: nothing,
  }
  if (kind === 'checks') return group(shown)
  const control = kind === 'choice' ? choice : kind === 'line' || kind === 'number' ? line : area
  return frame({ ...shown, control: control(shown) })
}

/** The values of a choice, with one that is set and that the form does not know, so that saving keeps it. */
function optionsOf({ values: known = [] }: FormField, values: readonly string[]) {
  const others = values.filter((value) => value !== '' && !known.some(([one]) => one === value))
  const all = [...known, ...others.map((value) => [value, value] as const)]
  return all.map(([value, text]) => ({ value, text, on: values.includes(value) }))
}

const attributes =
  'id="{{id}}" name="{{name}}"{{#if required}} aria-required="true"{{/if}}{{#if described}} aria-describedby="{{described}}"{{/if}}{{#if is_wrong}} aria-invalid="true"{{/if}}'
const line = piece(
  `<input class="form-control{{#if is_wrong}} is-invalid{{/if}}" ${attributes} type="{{type}}"{{#if words}} list="{{words}}"{{/if}}{{#if numeric}} step="any"{{/if}} value="{{value}}" autocomplete="off">`,
)
const area = piece(
  `<textarea class="form-control{{#if mono}} font-monospace{{/if}}{{#if is_wrong}} is-invalid{{/if}}" ${attributes} rows="{{rows}}">
{{value}}</textarea>`,
)
const choice = piece(
  `<select class="form-select{{#if is_wrong}} is-invalid{{/if}}" ${attributes}>{{#each options}}<option value="{{value}}"{{#if on}} selected{{/if}}>{{text}}</option>{{/each}}</select>`,
)
const notes =
  '{{#if is_wrong}}<div class="invalid-feedback d-block" id="{{id}}-error">{{#each errors}}<div><bdi>{{this}}</bdi></div>{{/each}}</div>{{/if}}{{#if has_hint}}<div class="form-hint" id="{{id}}-hint">{{hint}}</div>{{/if}}'
const frame = piece(
  `<div class="mb-3"><label class="form-label{{#if required}} required{{/if}}" for="{{id}}">{{label}}</label>
{{control}}
${notes}</div>
`,
)
const group = piece(
  `<fieldset class="mb-3"{{#if described}} aria-describedby="{{described}}"{{/if}}><legend class="form-label{{#if required}} required{{/if}}">{{label}}</legend>
{{#each options}}<label class="form-check{{#unless ../is_stacked}} form-check-inline{{/unless}}"><input class="form-check-input" type="checkbox" name="{{../name}}" value="{{value}}"{{#if on}} checked{{/if}}><span class="form-check-label"><bdi>{{text}}</bdi></span></label>{{/each}}
${notes}</fieldset>
`,
)

/** A page that asks once more before something is deleted. */
export const confirmView =
  piece(`<section class="card"><form class="card-body" method="post"><input type="hidden" name="csrf" value="{{csrf}}">
{{#each lines}}<p>{{this}}</p>{{/each}}
<div class="btn-list"><button class="btn btn-danger" name="act" value="delete">{{label}}</button><a class="btn" href="{{back}}">Cancel</a></div></form></section>
`)
