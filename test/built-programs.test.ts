// Programs of test/ that run as built files, such as `npm run bench`: they are built alone, so that a path to the source of a package
// leads nowhere there.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('./', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const texts = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/^dist\//.test(path))
  .map(read)

/** The built files that scripts of package.json and tests start or import. */
const programs = [
  ...new Set(
    [read('../package.json'), ...texts].flatMap((text) =>
      [...text.matchAll(/\btest\/dist\/([\w/-]+)\.js\b/g)].map(([, path]) => `${path}.ts`),
    ),
  ),
]

/** The files that a file imports by path when it is loaded; types are not in the built file. */
function loadedBy(path: string): string[] {
  const found = read(path).matchAll(/^(?:import|export)\s(?!type\b)(?:[^'"]*?\sfrom\s)?'(\.[^']+)'/gm)
  return [...found].map(([, to = '']) => join(dirname(path), to).replace(/\.js$/, '.ts'))
}

it.each(programs)('%s loads files of test/ and packages only', (program) => {
  const seen = new Set([program])
  for (const path of seen) for (const to of loadedBy(path)) if (existsSync(join(root, to))) seen.add(to)
  const outside = [...seen].filter((path) => path.startsWith('..'))
  expect(outside).toEqual([])
})

it('names the programs of package.json', () => {
  expect(programs).toEqual(expect.arrayContaining(['bench/main.ts', 'e2e/runs.ts', 'demo/demo.ts', 'demo/github.ts']))
})
