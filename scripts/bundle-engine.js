// One file in place of a hundred for what an agent imports: loading many small modules took most of `import '@svc/engine'`.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isCurrent } from './is-current.js'

const engine = fileURLToPath(new URL('../engine/', import.meta.url))

/** The files that engine/package.json exports. */
const entries = ['index', 'parts', 'serve/run', 'source/baseline-manifest']

/** Newer than the bundles' sources when they are current. */
const stamp = `${engine}dist/.bundled`

/**
 * Replaces the compiled entries of the engine by bundles with shared chunks, unless they are current: programs that run
 * now may still load them. It reads the sources, because the compiler does not write an unchanged entry again. The few
 * functions of proof that the engine uses are included: all of proof is 26 modules.
 */
export async function bundleEngine() {
  const compiled = ['engine', 'proof'].map((name) => `${engine}../${name}/dist/.tsbuildinfo`)
  if (isCurrent(stamp, [...compiled, fileURLToPath(import.meta.url)])) return
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, `${engine}${name}.ts`])),
    platform: 'node',
    external: /^(node:|@svc\/(schemas|library)|ajv|yaml|re2js)/,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] }, conditionNames: ['@svc/source', 'import'] },
    treeshake: { moduleSideEffects: false },
  })
  const { output } = await bundle.write({
    dir: `${engine}dist`,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await bundle.close()
  const current = new Set(output.map(({ fileName }) => fileName))
  for (const name of readdirSync(`${engine}dist/chunks`))
    if (!current.has(`chunks/${name}`)) rmSync(`${engine}dist/chunks/${name}`)
  writeFileSync(stamp, '')
}
