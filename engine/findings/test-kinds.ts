// Findings about tests of manifests.
import { defineKinds } from './kind.js'

export const testKinds = defineKinds([
  {
    id: 'test-failed',
    severity: 'error',
    title: 'A test of the manifest failed',
    why: 'The policies decide otherwise than the test expects.',
    remedy:
      'Read what was expected and what was decided, then correct the policy, or the test if the decision is right.',
  },
])
