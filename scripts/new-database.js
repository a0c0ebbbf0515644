// The embedded database that a first start copies, with the tables of this build's migrations.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../platform/dist/', import.meta.url))
const made = `${dist}new-database`

/** Makes the database when it is missing, or when the migrations, the tables of jobs or the database engine have changed. */
export async function makeNewDatabase() {
  const contents = contentsOf()
  const stamp = `${made}.sha256`
  if (existsSync(made) && existsSync(stamp) && readFileSync(stamp, 'utf8') === contents) return
  console.log('svc: making the embedded database that first starts copy (once a build, about ten seconds)')
  const { openDatabase } = await import('../platform/dist/db/db.js')
  const { migrate } = await import('../platform/dist/db/migrations/index.js')
  const { readConfig } = await import('../platform/dist/config.js')
  const draft = mkdtempSync(`${dist}draft-`)
  try {
    const db = await openDatabase(readConfig({ SVC_DATA_DIR: draft }).value, undefined, null)
    await migrate(db)
    await db.knex.raw('checkpoint')
    await db.close()
    rmSync(made, { recursive: true, force: true })
    renameSync(`${draft}/pg`, made)
    writeFileSync(stamp, contents)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function contentsOf() {
  const hash = createHash('sha256')
  for (const name of ['@electric-sql/pglite', 'pg-boss'])
    hash.update(readFileSync(fileURLToPath(new URL('../package.json', import.meta.resolve(name)))))
  hash.update(readFileSync(`${dist}db/boss.js`))
  for (const name of readdirSync(`${dist}db/migrations`)
    .filter((name) => name.endsWith('.js'))
    .sort())
    hash.update(readFileSync(`${dist}db/migrations/${name}`))
  return hash.digest('hex')
}
