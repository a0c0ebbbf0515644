// The manifests that the documents print, on recorded runs: none blocks a step that its page does not mean to block.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from './support/cli/svc.js'
import { sharedData } from './support/server/shared.js'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-printed-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Refunds of the examples went out without an approval: these two policies are there to stop that. */
const meant = new Set(['A person approves each refund', 'Refunds need a fresh approval'])

/** The files that commands of a page write, and its YAML: those of docs/findings.md have faults. */
const printed = ['developers', 'policy-authors', 'protecting-agents'].flatMap((page) => {
  const text = readFileSync(join(root, `docs/${page}.md`), 'utf8')
  const blocks = [...text.matchAll(/^cat > \S+ <<'?END'?\n(.*?)^END$|^```yaml\n(.*?)^```$/gms)]
  const manifests = blocks.map(([, file, yaml]) => file ?? yaml ?? '').filter((one) => /^policies:$/m.test(one))
  return manifests.map((manifest, index) => ({ name: `${page} ${index + 1}`, manifest }))
})

interface Replayed {
  readonly tasks: number
  readonly policies: readonly { readonly name: string; readonly blocked: number }[]
}

async function replayed(traces: string, { name, manifest }: (typeof printed)[number]) {
  const path = join(folder, `${name.replace(' ', '-')}.yaml`)
  writeFileSync(path, manifest)
  const { stdout } = await runSvc(['replay', traces, '--manifest', path, '--json'])
  const { tasks, policies } = JSON.parse(stdout) as Replayed
  return { tasks, blocked: policies.filter((one) => one.blocked > 0 && !meant.has(one.name)).map((one) => one.name) }
}

it('are all found', () => {
  expect(printed.map(({ name }) => name)).toEqual([
    'developers 1',
    ...[1, 2, 3, 4].map((number) => `policy-authors ${number}`),
    'protecting-agents 1',
  ])
})

describe.each(printed)('the manifest $name', (one) => {
  it('blocks no run of the examples', async () => {
    expect(await replayed(join(root, 'examples/runs'), one)).toEqual({ tasks: 30, blocked: [] })
  })
})

const runs = sharedData('agent-runs/airline-service.jsonl')
describe.skipIf(runs === null)('real runs of an agent that calls a named model', () => {
  it('are blocked by no manifest', async () => {
    const traces = join(folder, 'airline.jsonl')
    await runSvc(['import', 'chat-completions', runs ?? '', '--out', traces])
    for (const one of printed) expect(await replayed(traces, one), one.name).toEqual({ tasks: 100, blocked: [] })
  })
})
