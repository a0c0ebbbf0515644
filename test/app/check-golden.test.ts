// What a compliance officer reads: whole check runs, from two versions of a repository and recorded tasks.
import { readFileSync, writeFileSync } from 'node:fs'
import type { ImpactReport } from '@svc/platform'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkPullRequest } from '../../app/check/check-pull-request.js'
import { type CheckWorld, checkWorld } from '../support/git/check-repository.js'

interface Golden extends CheckWorld {
  readonly name: string
  readonly impact: ImpactReport
}

const folder = new URL('../cases/github-check/', import.meta.url)
const cases = parse(readFileSync(new URL('golden.yaml', folder), 'utf8'), { merge: true }) as Golden[]

describe('a check run', () => {
  it.each(cases)('of $name is as a person has read it', async ({ name, impact, ...world }) => {
    const { parts, runs } = checkWorld(world, async () => impact)
    await checkPullRequest(parts, 12)
    const [run] = runs
    const { title = '', summary = '', text, annotations = [] } = run?.output ?? {}
    const shown = annotations.map(
      ({ annotation_level, path, start_line, title, message }) =>
        `- ${annotation_level} ${path}:${start_line} ${title}\n  ${message}`,
    )
    const page = [
      `<!-- ${run?.conclusion} -->`,
      `# ${title}`,
      summary,
      '## Details',
      text ?? '',
      '## Annotations',
      shown.join('\n'),
    ]
    const path = new URL(`${name.replaceAll(' ', '-')}.md`, folder)
    const written = `${page.join('\n\n')}\n`
    if (process.env.SVC_WRITE_GOLDEN === '1') writeFileSync(path, written)
    expect(written).toBe(readFileSync(path, 'utf8'))
  })
})
