// Runs the fast tests that are nearest to the files that changed since the last commit, for a developer between two edits:
// tests that import a file, that have its name, or that mirror its room. `npm test` runs all of them.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
const tests = [...git('ls-files', 'test'), ...git('ls-files', '--others', '--exclude-standard', 'test')].filter(
  (path) => /\.test\.ts$/.test(path) && !/\.(full|night)\.test\.ts$/.test(path),
)
const textOf = new Map(tests.map((path) => [path, readFileSync(`${root}${path}`, 'utf8')]))
const changed = [
  ...new Set([...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')]),
]

/** The tests of a changed file; none for a document. */
function nearest(path) {
  if (tests.includes(path)) return [path]
  const name = basename(path, extname(path))
  const mentions = (word) => tests.filter((test) => textOf.get(test).includes(word))
  if (path.startsWith('test/')) return mentions(path.endsWith('.ts') ? `/${name}.js'` : basename(path))
  if (!path.endsWith('.ts')) return []
  const folder = `test/${dirname(path)}`
  const room = path.split('/').slice(1, -1).join('/')
  const own = tests.filter((test) => test.startsWith(`test/${path.split('/')[0]}/`))
  const found = [
    ...mentions(`/${path.replace(/\.ts$/, '.js')}'`),
    ...own.filter((test) => basename(test).startsWith(`${name}.`) || basename(test).startsWith(`${name}-`)),
    ...own.filter((test) => dirname(test) === folder || (room !== '' && basename(test) === `${room}.test.ts`)),
  ]
  return found.length > 0 ? found : mentions(`/${dirname(path)}/`)
}

const chosen = [...new Set(changed.flatMap(nearest))]
if (chosen.length === 0) console.log('no test is near the files that changed: run `npm test`')
else {
  console.log(`${chosen.length} of ${tests.length} test files are near ${changed.length} changed files`)
  // Files that did not change keep what they were transformed to.
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--project', 'fast', '--experimental.fsModuleCache', ...chosen],
    {
      cwd: root,
      stdio: 'inherit',
    },
  )
  process.exitCode = status ?? 1
}
