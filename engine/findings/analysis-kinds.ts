// Findings about policies that are valid, and probably do not do what their author wants; and about recorded tasks.
import { defineKinds } from './kind.js'

export const analysisKinds = defineKinds([
  {
    id: 'never-applied',
    severity: 'info',
    title: 'A policy applied to no step of the replayed tasks',
    why: 'Its target may name a tool, a type or a verb that the agent does not use, and then it protects nothing.',
    remedy: 'Compare its target with the steps of the trace: `svc explain` lists policies that are not applicable.',
  },
])
