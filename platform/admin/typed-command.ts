// The command of this program as a person types it in this install, so that commands in messages work when they are pasted.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** `path`: the value of PATH. Folders that npm adds to it while it runs a script are ignored. */
export function typedCommand(path: string): string {
  const own = path.split(delimiter).filter((folder) => folder !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(folder))
  const names = ['svc-platform', 'svc-platform.cmd']
  const isInstalled = own.some((folder) => names.some((name) => existsSync(join(folder, name))))
  return isInstalled ? 'svc-platform' : 'npx --no-install svc-platform'
}
