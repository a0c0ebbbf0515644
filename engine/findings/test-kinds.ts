// Findings about tests of manifests.
import { defineKinds } from './kind.js'

export const testKinds = defineKinds([
  {
    id: 'wrong-test',
    severity: 'error',
    title: 'A test cannot be run as it is written',
    why: 'A test needs a step to evaluate, or an agent to register; a history needs a step after it.',
    remedy: 'Add the part that the message names.',
  },
  {
    id: 'test-failed',
    severity: 'error',
    title: 'A test of the manifest failed',
    why: 'The policies decide otherwise than the test expects.',
    remedy:
      'Read what was expected and what was decided, then correct the policy, or the test if the decision is right.',
  },
  {
    id: 'no-tests',
    severity: 'error',
    title: 'A manifest has no test although tests are required',
    why: 'A policy that was never tried may block nothing, or everything.',
    remedy: 'Add `tests` to the manifest or to a file `<manifest>.test.yaml` beside it.',
  },
  {
    id: 'no-matching-test',
    severity: 'error',
    title: 'No test has a name that the filter selects',
    why: 'A run without tests passes by accident.',
    remedy: 'Correct the filter; it selects tests whose name contains it.',
  },
  {
    id: 'lone-test-file',
    severity: 'error',
    title: 'A test file has no manifest beside it',
    why: 'The tests of `refunds.test.yaml` are for `refunds.yaml` in the same folder; without it they never run.',
    remedy: 'Rename the file, or give the path of the manifest as well.',
  },
  {
    id: 'tests-not-run',
    severity: 'warning',
    title: 'The tests are too many to run on the platform',
    why: 'Other requests wait while tests run, so the platform runs as many as it can in a short time, or none.',
    remedy: 'Run them where the manifest is: `svc test`, or the GitHub Action.',
  },
  {
    id: 'untested-policy',
    severity: 'info',
    title: 'No test covers a side of a policy',
    why: 'A policy that no test violates may never block, and one that no test passes may block everything.',
    remedy: 'Add a test with a step that violates it, and one with a step that passes.',
  },
])
