// Policies that change while a task runs: for every rule with a history.
process.env.SVC_ALL_RULES ??= '1'
await import('./change-at-step-50.test.js')

export {}
