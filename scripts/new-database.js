// The embedded database that a first start copies, with the tables of this build's migrations and the queues of its jobs.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../platform/dist/', import.meta.url))
const made = `${dist}new-database`

/** Makes the database when it is missing, or when the migrations, the tables of jobs or the database engine have changed. */
export async function makeNewDatabase() {
  const contents = contentsOf()
  const stamp = `${made}.sha256`
  if (existsSync(made) && existsSync(stamp) && readFileSync(stamp, 'utf8') === contents) return
  console.log('svc: making the embedded database that first starts copy (once a build, about ten seconds)')
  const { migrate } = await import('../platform/dist/db/migrations/index.js')
  const draft = mkdtempSync(`${dist}draft-`)
  try {
    await onDatabase(draft, (db) => migrate(db))
    const queues = await queuesOfPlatform(draft)
    await onDatabase(draft, async (_db, boss) => {
      for (const queue of queues) await boss.createQueue(queue.name, queue)
    })
    rmSync(made, { recursive: true, force: true })
    renameSync(`${draft}/pg`, made)
    writeFileSync(stamp, contents)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The queues that a platform creates at its first start, found on a copy: only the platform knows all its jobs. */
async function queuesOfPlatform(draft) {
  const { createPlatform } = await import('../platform/dist/platform.js')
  const copy = mkdtempSync(`${dist}draft-`)
  try {
    cpSync(`${draft}/pg`, `${copy}/pg`, { recursive: true })
    const platform = await createPlatform(await configOf(copy))
    await platform.close()
    const queues = await onDatabase(copy, (_db, boss) => boss.getQueues())
    return queues.map((queue) => Object.fromEntries(Object.entries(queue).filter(([, value]) => value !== null)))
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

async function onDatabase(data_dir, work) {
  const { openDatabase } = await import('../platform/dist/db/db.js')
  const { bossOf } = await import('../platform/dist/db/boss.js')
  const db = await openDatabase(await configOf(data_dir), undefined, null)
  try {
    const result = await work(db, bossOf(db))
    await db.pool.query('checkpoint')
    return result
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
  for (const name of ['@electric-sql/pglite', 'pg-boss'])
    hash.update(readFileSync(fileURLToPath(new URL('../package.json', import.meta.resolve(name)))))
  hash.update(readFileSync(`${dist}db/boss.js`))
  for (const text of jobDefinitions()) hash.update(text)
  for (const folder of ['migrations', 'schema'])
    for (const name of readdirSync(`${dist}db/${folder}`)
      .filter((name) => name.endsWith('.js'))
      .sort())
      hash.update(readFileSync(`${dist}db/${folder}/${name}`))
  return hash.digest('hex')
}

/** The texts of the modules that define jobs. */
function jobDefinitions() {
  return readdirSync(dist, { recursive: true })
    .filter((path) => path.endsWith('.js') && !/^(new-database|draft-)/.test(path))
    .sort()
    .map((path) => readFileSync(`${dist}${path}`, 'utf8'))
    .filter((text) => text.includes('defineJob('))
}
