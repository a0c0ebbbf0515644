// `svc key`: the API keys of the current workspace.
import type { ApiKey, ApiKeyList, MadeApiKey } from '@svc/schemas'
import type { Command } from 'commander'
import type { Terminal } from '../terminal.js'
import type { Client } from './client.js'
import { groupCommand, type Output, type Subcommand } from './subcommand.js'
import { table } from './table.js'
import { timeOption } from './time-option.js'

export function keyCommand(terminal: Terminal): Command {
  return groupCommand(terminal, {
    name: 'key',
    description: 'manage the API keys of the current workspace',
    subcommands,
    examples: ['key create "support agents"'],
  })
}

const subcommands: readonly Subcommand[] = [
  {
    call: 'list',
    description: 'list the keys, without their secrets',
    run: async ({ get, workspace }) => {
      const list = await get<ApiKeyList>('/auth/api-keys')
      return { lines: [`${workspace().name}:`, ...table(list.api_keys.map(row))], json: list }
    },
  },
  {
    call: 'create <name>',
    description: 'create a key and show its secret, once',
    options: [
      ['--scopes <scopes>', 'ingest, read, or both', 'ingest,read'],
      ['--expires <time>', 'end of its validity, such as 2027-01-01 or 2027-01-01T09:00:00Z'],
    ],
    run: async ({ post, workspace }, [name], { scopes = '', expires }) => {
      const chosen = scopes.split(',').map((scope) => scope.trim())
      if (chosen.some((scope) => !['ingest', 'read'].includes(scope)))
        throw new Error(`\`--scopes\` is \`${scopes}\`: write ingest, read, or ingest,read`)
      const expires_at = timeOption('--expires', expires)
      const body = { name, scopes: chosen, ...(expires_at !== undefined && { expires_at }) }
      return keyOutput(workspace().name, await post<MadeApiKey>('/auth/api-keys', body))
    },
  },
  {
    call: 'roll <key>',
    description:
      'replace the secret of a key, by id or name; agents keep their ids, the old secret stops working at once',
    run: async (client, [id]) =>
      keyOutput(client.workspace().name, await client.post<MadeApiKey>(`${await keyPath(client, id)}/roll`)),
  },
  {
    call: 'revoke <key>',
    description:
      'revoke a key, by id or name; its agents and tasks cannot continue with another key (to continue, roll it)',
    run: async (client, [id]) => {
      const key = await client.post<ApiKey>(`${await keyPath(client, id)}/revoke`)
      return { lines: [`${key.name} is revoked`], json: key }
    },
  },
]

/** The path of a key, by its id, or by its name when only one valid key has it. */
async function keyPath({ get, svc }: Client, wanted = ''): Promise<string> {
  const { api_keys } = await get<ApiKeyList>('/auth/api-keys')
  const valid = api_keys.filter(({ name, revoked_at }) => name === wanted && revoked_at === null)
  if (valid.length > 1)
    throw new Error(`several keys are named \`${wanted}\`: give the id of one, \`${svc} key list\` lists them`)
  return `/auth/api-keys/${encodeURIComponent(valid[0]?.id ?? wanted)}`
}

/** The secret has a line of its own, so that it can be piped. */
function keyOutput(workspace: string, { api_key, key }: MadeApiKey): Output {
  const heading = `${api_key.name} for ${workspace}  (${api_key.id}), shown only once:`
  return { lines: [heading, key], json: { api_key, key } }
}

function row({ id, name, scopes, expires_at, revoked_at, last_used_at }: ApiKey): string[] {
  const state =
    revoked_at !== null ? `revoked ${revoked_at}` : expires_at !== null ? `until ${expires_at}` : 'no expiry'
  return [id, name, scopes.join(','), state, last_used_at === null ? 'never used' : `last used ${last_used_at}`]
}
