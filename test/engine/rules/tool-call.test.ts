// Calls of tools under the types of other steps: no spelling of the type hides one (docs/design/engine.md §3, 19).
import type { Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { callsTool } from '../../../engine/rules/tool-call.js'
import { domainNames, readDomain } from '../../protection/corpus.js'

const steps = domainNames()
  .map(readDomain)
  .flatMap(({ paths }) => paths)
  .flatMap(({ tasks }) => tasks)
  .flatMap((task) => task.steps.map(({ step }) => step))
const called = steps.filter(({ step_type, step_name }) => step_name !== undefined && step_type !== 'step.model')
const unknown = () => false

describe('the tools of the corpus', () => {
  it.each(['step.unknown', 'step.resource', 'step.exec', 'tool.call'])('are calls of tools as %s', (step_type) => {
    expect(called.length).toBeGreaterThan(1000)
    expect(called.filter((step) => !callsTool({ ...step, step_type }, unknown))).toEqual([])
  })

  it.each(['step.model', 'LLM_CALL', 'step.gate', 'task.idle'])(
    'are calls of tools as %s when they have arguments',
    (step_type) => {
      const withArguments = called.filter(({ input = {} }) => Object.keys(input).length > 0)
      const hidden = withArguments.filter((step) => !callsTool({ ...step, step_type }, unknown))
      expect(hidden.map(({ step_name }) => step_name)).toEqual([])
    },
  )

  it.each(['step.model', 'step.gate', 'task.start', 'task.idle'])(
    'are calls of tools as %s when the agent declares them',
    (step_type) => {
      const names = new Set(called.map(({ step_name }) => step_name))
      expect(called.filter((step) => !callsTool({ ...step, step_type }, (name) => names.has(name)))).toEqual([])
    },
  )

  it('are not mistaken for by the model calls of the corpus', () => {
    const models = steps.filter(({ step_type }) => step_type === 'step.model')
    expect(models.length).toBeGreaterThan(1000)
    expect(models.filter((step: Step) => callsTool(step, unknown))).toEqual([])
  })
})
