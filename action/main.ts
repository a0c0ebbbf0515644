// The program that the runner starts.
import { randomUUID } from 'node:crypto'
import { chdir, cwd, env, stdout } from 'node:process'
import { workflowCommands } from '@svc/engine/parts'
import { run } from './run.js'

const print = (line: string) => stdout.write(`${line}\n`)

try {
  if (env.GITHUB_WORKSPACE) chdir(env.GITHUB_WORKSPACE)
  const outside = { env, workspace: cwd(), print, now: Date.now(), randomName: randomUUID }
  process.exitCode = await run(outside)
} catch (error) {
  // The run is not complete: it must look neither like a pass nor like findings.
  process.exitCode = 2
  const lines = (error instanceof Error ? error.message : String(error)).split('\n')
  const problems = lines.map((message) => ({ severity: 'error' as const, title: 'svc cannot run', message }))
  for (const command of workflowCommands(problems, 'correct these first')) print(command)
}
