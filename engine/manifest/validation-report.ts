// A validation as JSON: the same from the command, the GitHub Action and the API.
import type { ValidationReport } from '@svc/schemas'
import type { Severity } from '../findings/kind.js'
import type { ValidatedManifest, Validation } from './validate.js'

/** The validation without the content of the manifests. */
export function validationReport({ manifests, findings, skipped }: Validation): ValidationReport {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length
  return {
    valid: count('error') === 0,
    errors: count('error'),
    warnings: count('warning'),
    manifests: manifests.map(rowOf),
    findings: [...findings],
    skipped: [...skipped],
  }
}

function rowOf({ value: _, tests, coverage, ...manifest }: ValidatedManifest): ValidationReport['manifests'][number] {
  return {
    ...manifest,
    tests: tests.map(({ policies: _answers, violated, failures, ...test }) => {
      return { ...test, violated: [...violated], failures: [...failures] }
    }),
    coverage: coverage as ValidationReport['manifests'][number]['coverage'],
  }
}
