// The long run of hostile-steps.test.ts.
process.env.SVC_FUZZ_STEPS ??= '40000'
await import('./hostile-steps.test.js')

export {}
