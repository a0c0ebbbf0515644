// Whose installations are accepted: those of the account that owns the App, and of the accounts that the operator names. A public
// App can be installed by everyone.
import { quote } from '@svc/engine/parts'
import type { Installation } from '../github/app-api.js'

/** `accounts` are in lower case. */
export function isAccepted({ account }: Installation, owner: string, accounts: readonly string[]): boolean {
  const login = account.login.toLowerCase()
  return login === owner || accounts.includes(login)
}

/** Tells the operator of an installation that is left out. */
export function leftOut({ installation_id, account }: Installation): string {
  return `the GitHub App is installed on ${quote(account.login)}, which does not own it: installation ${installation_id} is left out; to accept it, add the account to SVC_GITHUB_APP_ACCOUNTS and restart`
}

/** The permissions that the App needs, by their names in its settings. */
const neededPermissions = {
  contents: 'read',
  metadata: 'read',
  pull_requests: 'read',
  checks: 'write',
  // Without it GitHub announces no merge groups, and a required check of one waits for ever.
  merge_queues: 'read',
} as const

/** The permissions that an installation lacks, for the operator; null when it has all of them. */
export function lacking({ installation_id, account, permissions }: Installation): string | null {
  const missing = Object.entries(neededPermissions).filter(
    ([name, level]) => permissions[name] !== level && permissions[name] !== 'write' && permissions[name] !== 'admin',
  )
  if (missing.length === 0) return null
  const names = missing.map(([name, level]) => `\`${name}: ${level}\``).join(', ')
  return `installation ${installation_id} on ${quote(account.login)} lacks ${names}: grant it in the settings of the App under \`Permissions & events\`, then accept the request in the settings of the installation`
}
