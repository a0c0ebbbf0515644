// `svc rules`: the registry of rules, as text or JSON.
import { printable } from '@svc/proof'
import type { Rule } from '@svc/schemas'
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'

interface RulesOptions {
  readonly json?: true
  readonly name?: string
}

export function rulesCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('rules')
    .description('list the rules with their category, scopes, parameters and an example')
    .argument('[rule]', 'one rule, with what each parameter means')
    .option('--json', 'print JSON')
    .option('--name <rule>', 'the same as the argument')
    .addHelpText('after', `\nExample:\n  ${svc} rules step_requires_gate\n\nExit codes: 0 ok, 2 usage`)
    .action(async (rule: string | undefined, { json, name = rule }: RulesOptions) => {
      const [{ rules }, { didYouMean }] = await Promise.all([import('@svc/engine'), import('@svc/engine/parts')])
      const names = rules.map((rule) => rule.name)
      if (name !== undefined && !names.includes(name)) {
        const hint = didYouMean(name, names) || `; \`${svc} rules\` lists them`
        terminal.stderr.write(`svc rules: \`${printable(name)}\` is not a rule${hint}\n`)
        terminal.exit(2)
        return
      }
      const chosen = name === undefined ? rules : rules.filter((rule) => rule.name === name)
      terminal.stdout.write(
        json
          ? `${JSON.stringify({ rules: chosen }, null, 2)}\n`
          : `${chosen.map((one) => ruleText(one, name !== undefined)).join('\n\n')}\n`,
      )
    })
}

function ruleText({ name, category, scopes, doc, params, example }: Rule, explained: boolean): string {
  const required = new Set((params.required as readonly string[] | undefined) ?? [])
  const properties = (params.properties as Record<string, { readonly description?: string }> | undefined) ?? {}
  const listed = Object.keys(properties).map((parameter) => `${parameter}${required.has(parameter) ? '!' : ''}`)
  return [
    `${name}  (${category}; ${scopes.join(', ')})`,
    `  ${doc}`,
    `  parameters  ${listed.join(', ') || 'none'}`,
    ...(explained
      ? Object.entries(properties).map(
          ([parameter, { description = '' }]) => `    ${parameter.padEnd(24)}${description}`,
        )
      : []),
    `  example     ${JSON.stringify(example)}`,
  ].join('\n')
}
