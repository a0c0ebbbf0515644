// A manifest for the recorded runs of an airline's service, which are not part of this repository, before and after a change.

/** `amount`: the largest certificate in dollars; `cancellations`: the most in one task. */
function manifest(version: string, amount: number, cancellations: number): string {
  return `# SPDX-License-Identifier: Apache-2.0
name: Airline service
version: "${version}"
description: What the agent of the airline may do with reservations and certificates.
policies:
  - name: Certificates are small
    rule_type: field_in_range
    params: {field: input.amount, min: 0, max: ${amount}, target_step_names: [send_certificate]}
    severity: critical
    scope: step_execution
  - name: Few cancellations in a task
    rule_type: execution_max_steps
    params: {step_type: {step_names: [cancel_reservation]}, max_steps: ${cancellations}}
    severity: critical
    scope: step_execution
`
}

const tests = `tests:
  - name: a certificate of 1000 dollars is blocked
    step: {step_type: step.resource, verb: POST, step_name: send_certificate, input: {amount: 1000}}
    expect: {action: block}
`

export const airline = {
  agent_key: 'airline-service',
  path: 'policies/airline.yaml',
  files: { 'policies/airline.yaml': manifest('1.0.0', 500, 4) + tests },
  tightened: { 'policies/airline.yaml': manifest('1.1.0', 100, 1) + tests },
} as const
