// `svc rules`: the registry, for people and for programs.
import type { Rule } from '@svc/schemas'
import { Command } from 'commander'

interface Options {
  readonly json?: true
  readonly name?: string
}

export function rulesCommand(): Command {
  return new Command('rules')
    .description('list the rules: category, scopes, parameters and an example each')
    .option('--json', 'print JSON')
    .option('--name <rule>', 'one rule only')
    .addHelpText('after', '\nExample:\n  svc rules --name step_requires_gate\n\nExit codes: 0 ok, 2 usage')
    .action(async ({ json, name }: Options) => {
      const { didYouMean, rules } = await import('@svc/engine')
      const chosen = name === undefined ? rules : rules.filter((rule) => rule.name === name)
      if (name !== undefined && chosen.length === 0) {
        process.stderr.write(
          `no rule is called \`${name}\`${didYouMean(
            name,
            rules.map((rule) => rule.name),
          )}\n`,
        )
        process.exitCode = 2
        return
      }
      process.stdout.write(
        json ? `${JSON.stringify({ rules: chosen }, null, 2)}\n` : `${chosen.map(describe).join('\n\n')}\n`,
      )
    })
}

function describe({ name, category, scopes, doc, params, example }: Rule): string {
  const required = new Set((params.required as readonly string[] | undefined) ?? [])
  const properties = Object.keys((params.properties as Record<string, unknown> | undefined) ?? {})
  const listed = properties.map((parameter) => `${parameter}${required.has(parameter) ? '!' : ''}`)
  return [
    `${name}  (${category}; ${scopes.join(', ')})`,
    `  ${doc}`,
    `  parameters  ${listed.join(', ') || 'none'}`,
    `  example     ${JSON.stringify(example)}`,
  ].join('\n')
}
