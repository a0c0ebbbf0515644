// How a person types the command of this program in this install, so that what a message names works when it is pasted.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** `path`: the folders of PATH; those that npm adds while it runs a script are not in a person's own. */
export function typedCommand(path: string): string {
  const own = path.split(delimiter).filter((folder) => folder !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(folder))
  const names = ['svc-platform', 'svc-platform.cmd']
  const isInstalled = own.some((folder) => names.some((name) => existsSync(join(folder, name))))
  return isInstalled ? 'svc-platform' : 'npx --no-install svc-platform'
}
