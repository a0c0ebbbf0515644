// `svc steps`: the vocabulary that steps and policies share, as text or JSON.
import type { PropertyWord, StepWord } from '@svc/schemas'
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'

export function stepsCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('steps')
    .description('list the step types with their verbs, and the well-known properties')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${svc} steps\n\nExit codes: 0 ok, 2 usage`)
    .action(async ({ json }: { readonly json?: true }) => {
      const { propertyWords, stepAliases, stepWords, verbs } = await import('@svc/schemas')
      const all = { step_types: stepWords, aliases: stepAliases, verbs, properties: propertyWords }
      terminal.stdout.write(json ? `${JSON.stringify(all, null, 2)}\n` : `${vocabularyText(all)}\n`)
    })
}

interface Vocabulary {
  readonly step_types: readonly StepWord[]
  readonly aliases: Readonly<Record<string, string>>
  readonly properties: readonly PropertyWord[]
}

function vocabularyText({ step_types, aliases, properties }: Vocabulary): string {
  const older = Object.entries(aliases).map(([alias, name]) => `  ${alias} = ${name}`)
  return [
    'Step types with their verbs:',
    ...step_types.map(stepText),
    ...fallback.map((line) => `  ${line}`),
    '',
    'Older names of step types:',
    ...older,
    '',
    'Well-known properties:',
    ...properties.map(propertyText),
  ].join('\n')
}

/** The same as in scripts/steps-template.md. */
const fallback = [
  'A tool that fits no type is `step.resource` POST: a change of something outside, which policies check most.',
  '`step.unknown` is for acts of which nothing is known; a policy on tools checks its name as well.',
]

function stepText({ step_type, verbs, meaning, example }: StepWord): string {
  return [
    `  ${step_type}  (${verbs.length === 0 ? 'no verb' : verbs.join(', ')})`,
    `    ${meaning}`,
    `    example  ${JSON.stringify(example)}`,
    '',
  ].join('\n')
}

function propertyText({ name, values, closed, meaning, example }: PropertyWord): string {
  return [
    `  ${name}  (${values}${closed ? ', no other value' : ''})`,
    `    ${meaning}`,
    `    example  ${JSON.stringify({ properties: example })}`,
    '',
  ].join('\n')
}
