// The long run of evaluate-fuzz.test.ts.
process.env.SVC_FUZZ_SETS ??= '1000'
await import('./evaluate-fuzz.test.js')

export {}
