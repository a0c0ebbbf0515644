// The manifest that `svc init` writes: one policy of each kind of answer, and tests that cover all of them.

export const exampleManifest = String.raw`# SPDX-License-Identifier: Apache-2.0
# yaml-language-server: $schema=../.svc/manifest.schema.json
#
# An example to change: the policies of an agent that pays refunds. A violated policy of severity critical blocks the step,
# and low, medium and high report it. With "mode: observe" a policy reports without blocking: a good start for a new one.
name: Refund desk
version: "1.0.0"
description: What the agent of the refund desk may do with the money and the data of customers.

policies:
  # Asks: with an approval the step waits for a person, who approves one order and one amount.
  - name: A person approves large refunds
    description: Above 100 euros, a person approves the order and the amount.
    rule_type: field_in_range
    params: {field: input.amount, min: 0, max: 100, target_step_names: [refund]}
    severity: critical
    scope: step_execution
    approval: {check_type: human_approval, binds: [step_name, input]}
    controls: ["EU-AI-Act:14"]

  # Blocks: the order of steps.
  - name: The order is read before a refund
    description: The agent read an order earlier in the same task.
    rule_type: step_requires_predecessor
    params: {required_step_type: {step_names: [read_order]}, target_step_names: [refund]}
    severity: critical
    scope: step_execution

  # Reports: a limit for each task.
  - name: At most three refunds in a task
    description: More refunds in one task point to a mistake or to fraud.
    rule_type: execution_max_steps
    params: {step_type: {step_names: [refund]}, max_steps: 3}
    severity: high
    scope: step_execution

  # Blocks: data that must not leave.
  - name: Mails contain no card numbers
    description: Numbers of payment cards are not sent by mail.
    rule_type: pii_in_request
    params: {patterns: ['\b[0-9]{4}([ -]?[0-9]{4}){3}\b'], fields: [input], target_step_names: [send_mail]}
    severity: critical
    scope: step_execution
    controls: ["GDPR:32"]

  # Reports at the registration of an agent, before its first step.
  - name: Every agent has an owner
    description: The agent names the person or the team that is responsible for it.
    rule_type: field_not_empty
    params: {field: owner_id}
    severity: medium
    scope: agent_registration
    controls: ["EU-AI-Act:26(2)"]

# A test has a history of steps, the step to evaluate and what is expected; "violated" names exactly the violated policies.
# The tests are in the manifest, so that a reviewer reads a policy and its cases together. In a file of their own,
# refunds.test.yaml, they work as well: then a change of tests alone is not a new version of the manifest.
tests:
  - name: a small refund after reading the order is allowed
    history:
      - {step_type: step.resource, verb: GET, step_name: read_order, input: {order: 7}}
    step: {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 40}}
    expect: {outcome: allow, violated: []}

  - name: a large refund asks for an approval
    history:
      - {step_type: step.resource, verb: GET, step_name: read_order, input: {order: 7}}
    step: {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 400}}
    expect: {outcome: ask, violated: [A person approves large refunds]}

  - name: a refund without reading the order is blocked
    step: {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 40}}
    expect: {outcome: block, violated: [The order is read before a refund]}

  - name: the fourth refund of a task is reported
    history:
      - {step_type: step.resource, verb: GET, step_name: read_order, input: {order: 7}}
      - {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 10}}
      - {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 20}}
      - {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 30}}
    step: {step_type: step.resource, verb: POST, step_name: refund, input: {order: 7, amount: 40}}
    expect: {outcome: warn, violated: [At most three refunds in a task]}

  - name: a mail with a card number is blocked
    step: {step_type: step.message, verb: POST, step_name: send_mail, input: {text: your card 4111 1111 1111 1111}}
    expect: {outcome: block, violated: [Mails contain no card numbers]}

  - name: a mail without a card number is allowed
    step: {step_type: step.message, verb: POST, step_name: send_mail, input: {text: order 7 is refunded}}
    expect: {outcome: allow, violated: []}

  - name: an agent without an owner is reported
    agent: {agent_key: refund-desk}
    expect: {outcome: warn, violated: [Every agent has an owner]}

  - name: an agent with an owner is in order
    agent: {agent_key: refund-desk, owner_id: refunds@example.org}
    expect: {outcome: allow, violated: []}
`
