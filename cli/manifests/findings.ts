// `svc findings`: why a finding matters, and what to do.
import { printable } from '@svc/proof'
import { Command } from 'commander'
import type { Terminal } from '../terminal.js'

export function findingsCommand(terminal: Terminal): Command {
  const { svc } = terminal
  return new Command('findings')
    .description('explain a finding, or list all of them')
    .argument('[id]', 'id of a finding, such as unknown-key')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${svc} findings unknown-key\n\nExit codes: 0 ok, 2 usage`)
    .action(async (id: string | undefined, { json }: { readonly json?: true }) => {
      const { didYouMean, findingKind, findingKinds } = await import('@svc/engine/parts')
      const ids = findingKinds.map((kind) => kind.id)
      const kind = id === undefined ? undefined : findingKind(id)
      if (id !== undefined && kind === undefined) {
        const hint = didYouMean(id, ids) || `; \`${svc} findings\` lists them`
        terminal.stderr.write(`svc findings: \`${printable(id)}\` is not a finding${hint}\n`)
        terminal.exit(2)
        return
      }
      const chosen = kind === undefined ? findingKinds : [kind]
      if (json) terminal.stdout.write(`${JSON.stringify({ findings: chosen }, null, 2)}\n`)
      else if (kind === undefined) terminal.stdout.write(`${findingKinds.map(row).join('\n')}\n`)
      else terminal.stdout.write(`${page(kind).join('\n')}\n`)
    })
}

interface Kind {
  readonly id: string
  readonly severity: string
  readonly title: string
  readonly why: string
  readonly remedy: string
  readonly wrong?: string
  readonly right?: string
}

function row({ id, severity, title }: Kind): string {
  return `${id.padEnd(22)} ${severity.padEnd(8)} ${title}`
}

function page({ id, severity, title, why, remedy, wrong, right }: Kind): string[] {
  const block = (head: string, text: string | undefined) =>
    text === undefined
      ? []
      : [
          '',
          head,
          ...text
            .trimEnd()
            .split('\n')
            .map((line) => `    ${printable(line)}`),
        ]
  return [
    `${id} (${severity}): ${title}`,
    '',
    why,
    `What to do: ${remedy}`,
    ...block('With this finding:', wrong),
    ...block('Without it:', right),
  ]
}
