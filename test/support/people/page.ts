// Runs the shell commands of a documentation page, unchanged and in order, and compares their output with the output that the
// page shows.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

interface Block {
  /** Shell commands, without their indentation. */
  readonly commands: string
  /** The output that the page shows; `…` matches any text. Null where it shows none. */
  readonly output: string | null
}

/** The `sh` blocks of a page, each with the `text` block that follows it directly. */
export function blocksOf(path: string): Block[] {
  const text = readFileSync(join(root, path), 'utf8')
  const fences = /^( *)```sh\n([\s\S]*?)^ *```\n(?: *```text\n([\s\S]*?)^ *```$)?/gm
  return [...text.matchAll(fences)].map(([, indent = '', commands = '', output = null]) => ({
    commands: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    output,
  }))
}

/** Whether the printed text matches the page. White space is ignored: a page breaks long lines. */
export function matches(printed: string, shown: string): boolean {
  const squeeze = (text: string) => text.replaceAll(/\s+/g, '')
  const parts = squeeze(shown).split('…')
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')
  return new RegExp(`^${pattern}$`, 's').test(squeeze(printed))
}

/** A folder that looks like a clone after `npm ci`, and a `PATH` where `npx --no-install` finds the built commands at once. */
export function makeClone(folder: string): string {
  const bin = join(folder, '.bin')
  mkdirSync(bin, { recursive: true })
  for (const name of readdirSync(root))
    if (!['data', '.git', '.bin'].includes(name)) symlinkSync(join(root, name), join(folder, name))
  const npx = `#!/bin/sh\ncase "$2" in\nsvc) main='${root}cli/bin/svc.js' ;;\nsvc-platform) main='${root}app/bin/svc-platform.js' ;;\nesac\nshift 2\nexec '${process.execPath}' "$main" "$@"\n`
  writeFileSync(join(bin, 'npx'), npx)
  chmodSync(join(bin, 'npx'), 0o755)
  return `${bin}:${process.env.PATH}`
}

export interface Terminal {
  /** Runs commands in the shell and returns their standard output. Rejects when one of them fails. */
  readonly run: (commands: string) => Promise<string>
  /** Starts a server beside the shell, by the last line, replacing the previous one; returns its output until it listens. */
  readonly serve: (command: string) => Promise<string>
  /** Stops the server as Ctrl+C does. */
  readonly stop: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A shell that keeps its variables from one call to the next. */
export function openTerminal(folder: string, env: Readonly<Record<string, string>>): Terminal {
  const options = { cwd: folder, env: { HOME: folder, ...env } }
  const shell = spawn('bash', ['--norc', '--noprofile'], options)
  const shellClosed = closed(shell)
  let errors = ''
  shell.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  let server: ChildProcess | null = null
  const stop = async () => {
    const running = server
    server = null
    if (running === null) return
    const ended = closed(running)
    running.kill('SIGINT')
    await ended
  }
  shell.stdin.write('set -eE\n')
  return {
    run: async (commands) => {
      errors = ''
      shell.stdin.write(`${commands}\nprintf '%s\\n' ${mark}\n`)
      const printed = await until(
        shell,
        (text) => text.endsWith(`${mark}\n`),
        () => errors,
      )
      return printed.slice(0, -mark.length - 1)
    },
    serve: async (command) => {
      await stop()
      const lines = command.trim().split('\n')
      const started = spawn('bash', ['-c', [...lines.slice(0, -1), `exec ${lines.at(-1)}`].join('\n')], options)
      server = started
      return until(started, (text) => /at http:\S+\n(.*\n)+/.test(text))
    },
    stop,
    close: async () => {
      await stop()
      shell.stdin.end()
      await shellClosed
    },
  }
}

const mark = '--end-of-these-commands--'

function closed(child: ChildProcess): Promise<void> {
  return child.exitCode === null ? new Promise((resolve) => child.once('close', () => resolve())) : Promise.resolve()
}

/** The output of a program until `isEnough`. Rejects when the program ends first. */
function until(child: ChildProcess, isEnough: (text: string) => boolean, errors = () => ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const read = (chunk: Buffer) => {
      printed += chunk.toString()
      if (!isEnough(printed)) return
      child.stdout?.off('data', read)
      child.off('close', ended)
      resolve(printed)
    }
    const ended = () => reject(new Error(`a command failed: ${errors()}\n${printed}`))
    child.stdout?.on('data', read)
    child.once('close', ended)
  })
}
