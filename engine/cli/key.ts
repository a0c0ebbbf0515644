// `svc key`: the API keys of the workspace one works in.
import type { ApiKey, ApiKeyList, MadeApiKey } from '@svc/schemas'
import type { Command } from 'commander'
import { type Act, deskCommand, type Told, table } from './desk.js'

export function keyCommand(): Command {
  return deskCommand('key', 'API keys for agents: create, list, roll, revoke', acts, 'svc key create "support agents"')
}

const at = (id = '') => `/auth/api-keys/${encodeURIComponent(id)}`

const acts: readonly Act[] = [
  {
    call: 'list',
    does: 'the keys of the workspace, without their secrets',
    run: async ({ get }) => {
      const list = await get<ApiKeyList>('/auth/api-keys')
      return { lines: table(list.api_keys.map(row)), json: list }
    },
  },
  {
    call: 'create <name>',
    does: 'make a key; its secret is shown this once',
    options: [
      ['--scopes <scopes>', 'ingest, read, or both', 'ingest,read'],
      ['--expires <time>', 'when it ends, such as 2027-01-01T00:00:00Z'],
    ],
    run: async ({ post }, [name], { scopes = '', expires }) => {
      const body = { name, scopes: scopes.split(','), ...(expires !== undefined && { expires_at: expires }) }
      return made(await post<MadeApiKey>('/auth/api-keys', body))
    },
  },
  {
    call: 'roll <key>',
    does: 'give a key another secret, by its id; agents keep their ids, the old secret ends at once',
    run: async ({ post }, [id]) => made(await post<MadeApiKey>(`${at(id)}/roll`)),
  },
  {
    call: 'revoke <key>',
    does: 'end a key, by its id',
    run: async ({ post }, [id]) => {
      const key = await post<ApiKey>(`${at(id)}/revoke`)
      return { lines: [`${key.name} is revoked`], json: key }
    },
  },
]

/** Alone on its line, the secret can be piped. */
function made({ api_key, key }: MadeApiKey): Told {
  return { lines: [`${api_key.name}  (${api_key.id}), shown this once:`, key], json: { api_key, key } }
}

function row({ id, name, scopes, expires_at, revoked_at, last_used_at }: ApiKey): string[] {
  const state =
    revoked_at !== null ? `revoked ${revoked_at}` : expires_at !== null ? `until ${expires_at}` : 'without end'
  return [id, name, scopes.join(','), state, last_used_at === null ? 'never used' : `last used ${last_used_at}`]
}
