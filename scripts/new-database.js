// The embedded database that a first start copies, with the tables of this build's migrations.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../platform/dist/', import.meta.url))
const made = `${dist}new-database`

/** Makes the database when it is missing, or when the migrations or the database engine have changed. */
export async function makeNewDatabase() {
  const contents = contentsOf()
  const stamp = `${made}.sha256`
  if (existsSync(made) && existsSync(stamp) && readFileSync(stamp, 'utf8') === contents) return
  console.log('svc: making the embedded database that first starts copy (once a build, about ten seconds)')
  const draft = mkdtempSync(`${dist}draft-`)
  try {
    await makeIn(draft)
    rmSync(made, { recursive: true, force: true })
    renameSync(`${draft}/pg`, made)
    writeFileSync(stamp, contents)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function makeIn(data_dir) {
  const { openDatabase } = await import('../platform/dist/db/db.js')
  const { migrate } = await import('../platform/dist/db/migrations/index.js')
  const db = await openDatabase(await configOf(data_dir), undefined, null)
  try {
    await migrate(db)
    await db.pool.query('checkpoint')
  } finally {
    await db.close()
  }
}

async function configOf(data_dir) {
  const { readConfig } = await import('../platform/dist/config.js')
  return readConfig({ SVC_DATA_DIR: data_dir, SVC_LOG_LEVEL: 'error' }).value
}

function contentsOf() {
  const hash = createHash('sha256')
  hash.update(readFileSync(fileURLToPath(new URL('../package.json', import.meta.resolve('@electric-sql/pglite')))))
  for (const folder of ['migrations', 'schema'])
    for (const name of readdirSync(`${dist}db/${folder}`)
      .filter((name) => name.endsWith('.js'))
      .sort())
      hash.update(readFileSync(`${dist}db/${folder}/${name}`))
  return hash.digest('hex')
}
