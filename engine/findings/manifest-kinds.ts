// Findings about the members of a manifest.
import { defineKinds } from './kind.js'

export const manifestKinds = defineKinds([
  {
    id: 'missing-key',
    severity: 'error',
    title: 'A required key is missing',
    why: 'Without it the engine does not know what to check, or when.',
    remedy: 'Add the key that the message names.',
    wrong: 'version: "1.0.0"\npolicies: []\n',
  },
])
