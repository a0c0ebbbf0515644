// Findings about the text of a file, before anything in it has a meaning.
import { defineKinds } from './kind.js'

export const yamlKinds = defineKinds([
  {
    id: 'yaml-empty',
    severity: 'error',
    title: 'The file has no content',
    why: 'An empty file, or one with comments only, has no policies, so nothing would be enforced.',
    remedy: 'Write `name`, `version` and `policies`, or delete the file.',
    wrong: '# policies of the refund desk\n',
    right:
      'name: Refund desk\nversion: "1.0.0"\npolicies:\n  - name: Refunds have an amount\n    rule_type: field_not_empty\n    params: { field: input.amount, target_step_names: [refund] }\n    scope: step_execution\n    severity: high\n',
  },
])
