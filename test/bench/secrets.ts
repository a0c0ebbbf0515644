// Whether the time of an answer reveals an account or a valid key: both kinds are measured in alternation, under the same
// load.
import { freePort, startPostgres } from '../support/server/postgres.js'
import { startBench } from './logs.js'
import type { Row } from './main.js'

const samples = 5_000
const warmUp = 500
const bar = '0.95 to 1.05'

export async function benchSecrets(): Promise<Row[]> {
  const postgres = await startPostgres()
  if (postgres === null) return []
  const database_url = postgres.emptyDatabase()
  const { platform, stop } = await startBench({
    SVC_DATABASE_URL: database_url,
    SVC_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('hex'),
    SVC_PORT: String(await freePort()),
    SVC_OWNER_EMAIL: 'known@example.org',
    SVC_RATE_LIMIT_ADDRESS: '0',
    SVC_RATE_LIMIT_MAILBOX: '0',
  })
  try {
    const ask = (email: string) => () =>
      fetch(`${platform.url}/auth/magic-link`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email }),
      })
    const accounts = await compare(ask('known@example.org'), ask('other@example.org'))
    // Keys are cached after their first use: each is used once, as in guessing.
    postgres.psql(
      database_url,
      `insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at, last_used_at)
       select k.org_id, 'key_' || n, sha256(s.secret), sha256(s.secret), 'n', k.scopes, now(), now() from api_keys k,
         generate_series(0, ${samples + warmUp}) n, lateral (select convert_to('SvcKey-a' || lpad(n::text, 40, '0'), 'UTF8') as secret) s`,
    )
    const keys = (what: string) => {
      let count = 0
      return () => {
        const authorization = `Bearer SvcKey-${what}${String(count++).padStart(40, '0')}`
        return fetch(`${platform.url}/auth/me`, { headers: { authorization } })
      }
    }
    return [
      row('sign-in link for an account', 'for no account', accounts),
      row('a valid key', 'an invalid key', await compare(keys('a'), keys('b'))),
    ]
  } finally {
    await stop()
    await postgres.remove()
  }
}

function row(what: string, other: string, [one, reference]: readonly [number, number]): Row {
  return {
    what: `time of the answer to ${what}`,
    measured: `${one.toFixed(3)} ms`,
    reference: `${other} ${reference.toFixed(3)} ms`,
    ratio: (one / reference).toFixed(3),
    bar,
  }
}

/** Medians of both, ms. */
async function compare(one: () => Promise<Response>, other: () => Promise<Response>): Promise<[number, number]> {
  const timed = async (send: () => Promise<Response>) => {
    const started = performance.now()
    const response = await send()
    await response.arrayBuffer()
    return performance.now() - started
  }
  for (let warm = 0; warm < warmUp; warm++) await timed(one)
  const times: [number[], number[]] = [[], []]
  for (let turn = 0; turn < samples; turn++) {
    const inOrder = turn % 2 === 0
    if (inOrder) times[0].push(await timed(one))
    times[1].push(await timed(other))
    if (!inOrder) times[0].push(await timed(one))
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
  return [median(times[0]), median(times[1])]
}
