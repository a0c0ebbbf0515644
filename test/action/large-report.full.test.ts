// A report with more findings than the summary of a job can hold.
import { describe, expect, it } from 'vitest'
import { newWorkspace, runAction } from '../support/git/action.js'

describe('a very large report', () => {
  it('fits into the summary of a job', () => {
    const policy = (index: number) =>
      `  - { name: ${'<'.repeat(50)}${index}, rule_type: x${'<'.repeat(60)}, scope: step_execution, severity: low }\n`
    const text = `name: a\nversion: "1"\npolicies:\n${Array.from({ length: 800 }, (_, index) => policy(index)).join('')}`
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}.yaml`, text]))
    const { summary, outputs } = runAction(newWorkspace(files))
    expect(Number(outputs.errors)).toBeGreaterThan(5000)
    expect(summary).toMatch(/\d+ more: set `json-file` for all of them\./)
    expect(Buffer.byteLength(summary)).toBeLessThan(1024 * 1024)
  })
})
