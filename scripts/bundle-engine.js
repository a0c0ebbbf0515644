// One file in place of a hundred for what an agent imports: loading many small modules took most of `import '@svc/engine'`.
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const engine = fileURLToPath(new URL('../engine/', import.meta.url))

/** The files that engine/package.json exports. */
const entries = ['index', 'serve/run', 'source/baseline-manifest']

/**
 * Replaces the compiled entries of the engine by bundles with shared chunks. It reads the sources, because the compiler
 * does not write an unchanged entry again. The few functions of proof that the engine uses are included: all of proof is
 * 26 modules.
 */
export async function bundleEngine() {
  rmSync(`${engine}dist/chunks`, { recursive: true, force: true })
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, `${engine}${name}.ts`])),
    platform: 'node',
    external: /^(node:|@svc\/(schemas|library)|ajv|yaml|re2js)/,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] }, conditionNames: ['@svc/source', 'import'] },
    treeshake: { moduleSideEffects: false },
  })
  await bundle.write({
    dir: `${engine}dist`,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await bundle.close()
}
