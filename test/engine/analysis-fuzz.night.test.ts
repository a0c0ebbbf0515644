// The long run of analysis-fuzz.test.ts and analysis-paths-fuzz.test.ts.
process.env.SVC_FUZZ_MANIFESTS ??= '500'
await import('./analysis-fuzz.test.js')
await import('./analysis-paths-fuzz.test.js')

export {}
