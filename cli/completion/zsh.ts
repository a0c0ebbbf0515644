// The completion script for zsh.
import { type CommandWords, nameOf, optionsWithValue, type Values } from './words.js'

/** The text of the script: it can be sourced after `compinit`, or saved as `_svc` in a folder of `fpath`. */
export function zshScript(commands: readonly CommandWords[]): string {
  const inner = commands.filter(({ path }) => path.length > 0)
  return `#compdef svc
# Completion of svc in zsh. To install it, add this line to ~/.zshrc, after compinit: source <(svc completion zsh)
_svc() {
  local at=svc option='' word
  local -a found
  integer count=0 i
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    option=''
    case "$at $word" in
      (${inner.map((one) => quoted(nameOf(one))).join('|')}) at="$at $word"; count=0 ;;
      (${commands.flatMap(optionsWithValue).map(quoted).join('|')}) option="$at $word"; ((i++)) ;;
      (*' -'*) ;;
      (*) ((count++)) ;;
    esac
  done
  # The value of an option ended before the word to complete.
  ((i > CURRENT)) || option=''
  if [[ -n $option ]]; then
    case "$option" in
${commands.flatMap(optionCases).join('\n')}
    esac
  elif [[ \${words[CURRENT]} == -* ]]; then
    case "$at" in
${commands.map(optionNames).join('\n')}
    esac
  else
    case "$at $count" in
${commands.flatMap(argumentCases).join('\n')}
    esac
  fi
}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A word with its description, as `_describe` reads it. */
function described(word: string, description: string): string {
  return quoted(`${word.replaceAll(':', '\\:')}:${description}`)
}

function optionCases(command: CommandWords): string[] {
  return command.options.flatMap(({ flags, values }) => {
    if (values === null) return []
    return [`      (${flags.map((flag) => quoted(`${nameOf(command)} ${flag}`)).join('|')}) ${action(values)} ;;`]
  })
}

function optionNames(command: CommandWords): string {
  const rows = command.options.flatMap(({ flags, description }) => flags.map((flag) => described(flag, description)))
  return `      (${quoted(nameOf(command))}) found=(${rows.join(' ')}); _describe -o option found ;;`
}

function argumentCases(command: CommandWords): string[] {
  const name = nameOf(command)
  if (command.commands.length > 0) {
    const rows = command.commands.map((one) => described(one.name, one.description))
    return [`      (${quoted(`${name} 0`)}) found=(${rows.join(' ')}); _describe command found ;;`]
  }
  return command.arguments.map(
    ({ values, variadic }, index) => `      (${quoted(`${name} `)}${variadic ? '*' : index}) ${action(values)} ;;`,
  )
}

function action(values: Values): string {
  if (values === 'files') return '_files'
  return values === 'any' ? ':' : `compadd -- ${values.join(' ')}`
}
