// Queues of the trace that belong to other locations: a start names those with lines that wait, since it does not send them.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from '../../files/durable-file.js'
import { takeLock } from '../../files/lock-file.js'
import { readCursor } from './cursor.js'
import { linesFrom, segmentsIn } from './segments.js'

export interface SpoolOwner {
  /** The folder of the queue; further engines have `NAME-2` and so on. */
  readonly name: string
  /** The sender, without credentials: the settings of a start. */
  readonly settings: string
}

/** One folder for each platform and agent: lines are sent under one agent key. */
export function apiSpool(url: string, agent_key: string): SpoolOwner {
  const base = url.replace(/\/+$/, '')
  const name = `traces-${digestOf(`${base}\n${agent_key}`, 16)}`
  return { name, settings: `--log-location api with SVC_API_URL=${plain(base)} and SVC_AGENT_KEY=${agent_key}` }
}

export function otlpSpool(href: string): SpoolOwner {
  return { name: `otlp-${digestOf(href, 32)}`, settings: `--log-location otlp:${plain(href)}` }
}

function digestOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}

/** An address without what can be a credential. */
function plain(address: string): string {
  if (!URL.canParse(address)) return '…'
  const { origin, pathname, search } = new URL(address)
  return `${origin}${pathname === '/' ? '' : pathname}${search === '' ? '' : '?…'}`
}

const fileName = 'settings'

/** Notes whose queue it is, for starts with another location. */
export function noteOwner(parent: string, { name, settings }: SpoolOwner): void {
  try {
    if (existsSync(join(parent, name))) writeFileSync(join(parent, name, fileName), `${settings}\n`, { mode: 0o600 })
  } catch {
    // A later start names the folder alone.
  }
}

/** Reports each queue below `parent` with lines that wait and that no running process has, but those of `own`. Never throws. */
export function reportOthers(parent: string, own: string | null, report: (line: string) => void): void {
  for (const folder of foldersIn(parent)) {
    const name = folder.replace(/-\d{1,2}$/, '')
    if (name === own) continue
    const path = join(parent, folder)
    const lines = orNone(() => waitingIn(path))
    if (lines === 0) continue
    const wait = lines === 1 ? '1 line waits' : `${lines} lines wait`
    const settings = readIfThere(join(parent, name, fileName))?.trim()
    report(
      `${wait} in \`${path}\` for another location of the trace: ${
        settings === undefined
          ? 'a start with the settings of that time sends them'
          : `a start with ${settings} sends them`
      }`,
    )
  }
}

function foldersIn(parent: string): string[] {
  try {
    return readdirSync(parent)
      .filter((folder) => /^(traces|otlp)-[0-9a-f]{16,}(-\d{1,2})?$/.test(folder))
      .sort()
  } catch {
    return []
  }
}

/** Throws for a queue of a running process, which sends it. */
function waitingIn(folder: string): number {
  const release = takeLock(folder)
  try {
    return linesFrom(segmentsIn(folder), readCursor(folder).offset)
  } finally {
    release()
  }
}

function orNone(count: () => number): number {
  try {
    return count()
  } catch {
    return 0
  }
}
