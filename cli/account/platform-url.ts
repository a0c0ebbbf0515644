// The platform of commands that name none.

/** SVC_API_URL, else a platform on this machine. */
export function defaultUrl(env: Readonly<Record<string, string | undefined>>): string {
  return env.SVC_API_URL || 'http://127.0.0.1:8080'
}
