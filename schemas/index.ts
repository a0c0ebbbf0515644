// Everything that crosses a wire, as JSON Schema 2020-12 documents and as types.
export { documents, type SchemaName } from './documents.js'
export type * from './types.js'
