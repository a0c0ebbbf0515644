// What an installation brings along: nothing that runs by itself and reports elsewhere.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { resolved?: string; link?: boolean; hasInstallScript?: boolean; dev?: boolean }>
}

describe('the lock file', () => {
  it('has an empty package in the place of the one that reports installations', () => {
    expect(lock.packages['node_modules/@scarf/scarf']).toEqual({ resolved: 'scripts/empty-package', link: true })
    expect(readdirSync(join(root, 'scripts/empty-package'))).toEqual(['package.json'])
  })

  it('has no package with an install script that an operator needs', () => {
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    expect(scripted.map(([name]) => name)).toEqual([])
  })
})
