// The commands of every page, those of long pages as well.
process.env.SVC_ALL_PAGES ??= '1'
await import('./readme.test.js')

export {}
