// The library with its analysis.
process.env.SVC_WHOLE_LIBRARY ??= '1'
await import('./library.test.js')

export {}
