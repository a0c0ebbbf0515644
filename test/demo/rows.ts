// The recorded tasks that a check run lists, as a program reads them from its Markdown.
export interface TaskRow {
  readonly agent: string
  readonly task: string
  readonly step: string
  readonly outcome: string
  readonly why: string
}

/** In the order of the check run: the tasks that would now be blocked come first for each agent. */
export function taskRows(summary: string): TaskRow[] {
  const [, part = ''] = summary.split('### First steps that change')
  let agent = ''
  return part.split('\n').flatMap((line) => {
    const heading = /^\*\*.*`(.+)`$/.exec(line)
    if (heading !== null) agent = heading[1] ?? ''
    const [task = '', step = '', outcome = '', why = ''] = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim())
    return task.startsWith('`')
      ? [{ agent, task: plain(task), step: plain(step), outcome: plain(outcome), why: plain(why) }]
      : []
  })
}

/** Without Markdown, and without the addresses of lines. */
function plain(cell: string): string {
  return cell
    .replace(/<br>\[`[^`]*`\]\([^)]*\)/g, '')
    .replaceAll('<br>', '; ')
    .replaceAll('**', '')
    .replace(/\\(?=[!-/:-@[-`{-~])/g, '')
    .replace(/;\s*$/, '')
}
