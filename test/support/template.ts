// An embedded database with its tables made, to be copied: making one takes seconds, and most tests are not about that.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig } from '@svc/platform'
import { migrate } from '../../platform/migrations/index.js'
import { openDatabase } from '../../platform/store/db.js'

const root = import.meta.url.includes('/test/dist/') ? '../../../' : '../../'
const at = (path: string) => fileURLToPath(new URL(`${root}${path}`, import.meta.url))

/** Puts a copy where a platform looks for its embedded database. */
export async function copyTemplate(data_dir: string): Promise<void> {
  const template = join(tmpdir(), `svc-test-template-${contents()}`)
  if (!existsSync(template)) await make(template)
  cpSync(join(template, 'pg'), join(data_dir, 'pg'), { recursive: true })
}

/** What a database is made of: another migration or another database is another template. */
function contents(): string {
  const migrations = readdirSync(at('platform/migrations'))
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => readFileSync(at(`platform/migrations/${name}`)))
  const hash = createHash('sha256').update(readFileSync(at('platform/package.json')))
  for (const migration of migrations) hash.update(migration)
  return hash.digest('hex').slice(0, 16)
}

async function make(template: string): Promise<void> {
  const draft = mkdtempSync(join(tmpdir(), 'svc-test-draft-'))
  const db = await openDatabase(readConfig({ SVC_DATA_DIR: draft }).value)
  await migrate(db)
  await db.close()
  try {
    renameSync(draft, template)
  } catch (error) {
    // Another worker was first.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(template)) throw error
  }
}
