// A built program whose output is a pipe that is closed at once.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export { freePort } from './postgres.js'

const root = import.meta.url.includes('/test/dist/') ? '../../../../' : '../../../'
export const svc = fileURLToPath(new URL(`${root}cli/bin/svc.js`, import.meta.url))
export const svcPlatform = fileURLToPath(new URL(`${root}app/bin/svc-platform.js`, import.meta.url))

interface Piped {
  /** Process id of the program. */
  readonly pid: Promise<number>
  /** Exit code of the program, and its output on the stream that is not piped. */
  readonly ended: Promise<{ readonly code: number; readonly other: string }>
}

// The reader ends before Node.js has started; descriptor 3 is the output that stays open, 4 reports to the test.
const scripts = {
  stdout: '{ { node "$@" & echo "pid $!" >&4; wait $!; echo "code $?" >&4; } 2>&3 | true; }',
  stderr: '{ { node "$@" & echo "pid $!" >&4; wait $!; echo "code $?" >&4; } 2>&1 >&3 | true; }',
}

/** Starts the program with one of its outputs piped into a program that reads nothing and ends. */
export function startPiped(
  closed: keyof typeof scripts,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Piped {
  const child = spawn('sh', ['-c', scripts[closed], 'sh', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  let other = ''
  let marks = ''
  const [, , , open, marker] = child.stdio as unknown as NodeJS.ReadableStream[]
  open?.on('data', (chunk: Buffer) => {
    other += chunk.toString()
  })
  const pid = new Promise<number>((resolve) =>
    marker?.on('data', (chunk: Buffer) => {
      marks += chunk.toString()
      const id = /pid (\d+)\n/.exec(marks)?.[1]
      if (id !== undefined) resolve(Number(id))
    }),
  )
  const ended = new Promise<{ code: number; other: string }>((resolve) =>
    child.once('close', () => resolve({ code: Number(/code (\d+)\n/.exec(marks)?.[1]), other })),
  )
  return { pid, ended }
}
