// `svc key`: the API keys of the workspace one works in.
import type { ApiKey, ApiKeyList, MadeApiKey } from '@svc/schemas'
import type { Command } from 'commander'
import { type Act, type Desk, deskCommand, type Told, table, timeOf } from './desk.js'

export function keyCommand(): Command {
  return deskCommand('key', 'API keys for agents: create, list, roll, revoke', acts, 'svc key create "support agents"')
}

/** Where a key is, by its id or by its name where only one that is good has it. */
async function keyAt({ get }: Desk, wanted = ''): Promise<string> {
  const { api_keys } = await get<ApiKeyList>('/auth/api-keys')
  const good = api_keys.filter(({ name, revoked_at }) => name === wanted && revoked_at === null)
  if (good.length > 1) throw new Error(`several keys are called ${wanted}: use the id, see svc key list`)
  return `/auth/api-keys/${encodeURIComponent(good[0]?.id ?? wanted)}`
}

const acts: readonly Act[] = [
  {
    call: 'list',
    does: 'the keys of the workspace, without their secrets',
    run: async ({ get, here }) => {
      const list = await get<ApiKeyList>('/auth/api-keys')
      return { lines: [`${here().name}:`, ...table(list.api_keys.map(row))], json: list }
    },
  },
  {
    call: 'create <name>',
    does: 'make a key; its secret is shown this once',
    options: [
      ['--scopes <scopes>', 'ingest, read, or both', 'ingest,read'],
      ['--expires <time>', 'when it ends, such as 2027-01-01 or 2027-01-01T09:00:00Z'],
    ],
    run: async ({ post, here }, [name], { scopes = '', expires }) => {
      const chosen = scopes.split(',').map((scope) => scope.trim())
      if (chosen.some((scope) => !['ingest', 'read'].includes(scope)))
        throw new Error(`--scopes takes ingest, read, or both as ingest,read; got ${scopes}`)
      const expires_at = timeOf('--expires', expires)
      const body = { name, scopes: chosen, ...(expires_at !== undefined && { expires_at }) }
      return made(here().name, await post<MadeApiKey>('/auth/api-keys', body))
    },
  },
  {
    call: 'roll <key>',
    does: 'give a key another secret, by its id or name; agents keep their ids, the old secret ends at once',
    run: async (desk, [id]) => made(desk.here().name, await desk.post<MadeApiKey>(`${await keyAt(desk, id)}/roll`)),
  },
  {
    call: 'revoke <key>',
    does: 'end a key, by its id or name; its agents and tasks cannot go on with another key: for that, roll it',
    run: async (desk, [id]) => {
      const key = await desk.post<ApiKey>(`${await keyAt(desk, id)}/revoke`)
      return { lines: [`${key.name} is revoked`], json: key }
    },
  },
]

/** Alone on its line, the secret can be piped. */
function made(workspace: string, { api_key, key }: MadeApiKey): Told {
  const what = `${api_key.name} for ${workspace}  (${api_key.id}), shown this once:`
  return { lines: [what, key], json: { api_key, key } }
}

function row({ id, name, scopes, expires_at, revoked_at, last_used_at }: ApiKey): string[] {
  const state =
    revoked_at !== null ? `revoked ${revoked_at}` : expires_at !== null ? `until ${expires_at}` : 'without end'
  return [id, name, scopes.join(','), state, last_used_at === null ? 'never used' : `last used ${last_used_at}`]
}
