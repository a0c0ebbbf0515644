// The completion script for bash 3.2 and later.
import { type CommandWords, nameOf, optionsWithValue, type Values } from './words.js'

/** The text of the script. */
export function bashScript(commands: readonly CommandWords[]): string {
  const inner = commands.filter(({ path }) => path.length > 0)
  return `# Completion of svc in bash. To install it, add this line to ~/.bashrc: source <(svc completion bash)
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at=svc option='' count=0 words='' files='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    option=''
    case "$at $word" in
    ${patterns(inner.map(nameOf))}) at="$at $word" count=0 ;;
    ${patterns(commands.flatMap(optionsWithValue))}) option="$at $word" i=$((i + 1)) ;;
    *' -'*) ;;
    *) count=$((count + 1)) ;;
    esac
  done
  # The value of an option ended before the word to complete.
  ((i > COMP_CWORD)) || option=''
  case "$option\${option:+ }$at" in
${commands.flatMap(optionCases).join('\n')}
  *)
    case "$cur" in
    -*)
      case "$at" in
${commands.map(optionNames).join('\n')}
      esac
      ;;
    *)
      case "$at $count" in
${commands.flatMap(argumentCases).join('\n')}
      esac
      ;;
    esac
    ;;
  esac
  COMPREPLY=()
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  else
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$cur")
  fi
}
complete -F _svc svc
`
}

function patterns(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(' | ')
}

/** The option is named with its command, and followed by the command once more. */
function optionCases(command: CommandWords): string[] {
  return command.options.flatMap(({ flags, values }) =>
    values === null
      ? []
      : [
          `  ${patterns(flags.map((flag) => `${nameOf(command)} ${flag} ${nameOf(command)}`))}) ${assignment(values)} ;;`,
        ],
  )
}

function optionNames(command: CommandWords): string {
  return `      '${nameOf(command)}') words='${command.options.flatMap(({ flags }) => flags).join(' ')}' ;;`
}

function argumentCases(command: CommandWords): string[] {
  const name = nameOf(command)
  if (command.commands.length > 0)
    return [`      '${name} 0') words='${command.commands.map((one) => one.name).join(' ')}' ;;`]
  return command.arguments.map(
    ({ values, variadic }, index) => `      '${name} '${variadic ? '*' : index}) ${assignment(values)} ;;`,
  )
}

function assignment(values: Values): string {
  if (values === 'files') return 'files=yes'
  return values === 'any' ? ':' : `words='${values.join(' ')}'`
}
