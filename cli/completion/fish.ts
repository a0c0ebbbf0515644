// The completion script for fish.
import { type CommandWords, nameOf, type OptionWords, type Values } from './words.js'

/** The text of the script. */
export function fishScript(commands: readonly CommandWords[]): string {
  const inner = commands.filter(({ path }) => path.length > 0).map(nameOf)
  return `# Completion of svc in fish. To install it: svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_at
    set -l at svc
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${inner.map(quoted).join(' ')}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
complete -c svc -f
${commands.flatMap(linesOf).join('\n')}
`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function linesOf(command: CommandWords): string[] {
  const start = `complete -c svc -n ${quoted(`__svc_at ${nameOf(command)}`)}`
  return [
    ...command.commands.map((one) => `${start} -a ${quoted(one.name)} -d ${quoted(one.description)}`),
    ...command.arguments.flatMap(({ values }) => (values === 'any' ? [] : [`${start} ${valuesFlag(values)}`])),
    ...command.options.map((option) => `${start} ${optionFlags(option)}`),
  ]
}

function valuesFlag(values: Values): string {
  if (values === 'files') return '-F'
  return values === 'any' ? '' : `-a ${quoted(values.join(' '))}`
}

function optionFlags({ flags, description, values }: OptionWords): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
  const value = values === null ? [] : values === 'files' ? ['-r -F'] : [`-x ${valuesFlag(values)}`.trim()]
  return [...names, ...value, `-d ${quoted(description)}`].join(' ')
}
