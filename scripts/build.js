// Builds after `npm ci` and before each start. An installation without dev dependencies has no compiler: it needs the build that
// packages include.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))
if (existsSync(tsc)) {
  process.exitCode = spawnSync(process.execPath, [tsc, '--build'], { stdio: 'inherit' }).status ?? 1
  if (process.exitCode === 0) {
    const { makeVerifier } = await import('./one-file-verifier.js')
    await makeVerifier()
    const { bundleEngine } = await import('./bundle-engine.js')
    await bundleEngine()
    const { makeNewDatabase } = await import('./new-database.js')
    await makeNewDatabase()
    copyAssets()
    writeCommit()
  }
} else if (!existsSync(`${root}app/dist/main.js`)) {
  console.error(
    'svc: nothing is built, and this installation has no compiler: run `npm ci`, which builds, then `npm prune --omit=dev`',
  )
  // `npm ci --omit=dev` may come before a copied build.
  if (process.env.npm_lifecycle_event !== 'prepare') process.exitCode = 1
}

/** Files that pages load, which the compiler does not copy. */
function copyAssets() {
  cpSync(`${root}platform/dashboard/assets`, `${root}platform/dist/dashboard/assets`, { recursive: true })
}

/** Names the commit in the build, for /health; a build outside of a Git repository has none. */
function writeCommit() {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  const path = `${root}platform/dist/commit`
  if (status === 0) writeFileSync(path, stdout)
  else rmSync(path, { force: true })
}
