// The order and names of an OSCAL assembly, once for XML and JSON: each field has its name in XML and its key in JSON.

export type Field =
  | { readonly kind: 'attribute' | 'text' | 'line' | 'block' | 'own'; readonly name: string; readonly key: string }
  | { readonly kind: 'texts'; readonly name: string; readonly key: string }
  | {
      readonly kind: 'one' | 'many'
      readonly name: string
      readonly key: string
      readonly shape: Shape
      /** As many as a report has rows. */
      readonly isLong?: true
    }

/** Attributes first, then elements in the order of the schema. */
export type Shape = readonly Field[]

/** An assembly, by its keys in JSON; undefined fields and empty lists are left out. It can be read once. */
export interface Assembly {
  readonly [key: string]: string | Assembly | readonly string[] | Iterable<Assembly> | undefined
}

export const attribute = (name: string): Field => ({ kind: 'attribute', name, key: name })
/** An element that holds a string. */
export const text = (name: string): Field => ({ kind: 'text', name, key: name })
export const texts = (name: string, key: string): Field => ({ kind: 'texts', name, key })
/** One line of markup, without markup. */
export const line = (name: string): Field => ({ kind: 'line', name, key: name })
/** Paragraphs of markup, without markup: a list of strings. */
export const block = (name: string): Field => ({ kind: 'block', name, key: name })
/** The text of the element itself, under its key in JSON. */
export const own = (key: string): Field => ({ kind: 'own', name: key, key })
export const one = (name: string, shape: Shape): Field => ({ kind: 'one', name, key: name, shape })
export const many = (name: string, key: string, shape: Shape): Field => ({ kind: 'many', name, key, shape })
/** As `many`, for rows of a report. */
export const rows = (name: string, key: string, shape: Shape): Field => ({
  kind: 'many',
  name,
  key,
  shape,
  isLong: true,
})
