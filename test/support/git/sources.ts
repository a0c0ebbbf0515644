// Sources of manifests as the platform opens them, on a folder of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { defaultLimits, type Limits } from '../../../platform/git/source/limits.js'
import { type GitSources, type RepositoryAddress, SourceError } from '../../../platform/git/source/source.js'
import { openSources, type SourceParts } from '../../../platform/git/source/sources.js'
import { createTargets, type Targets } from '../../../platform/outgoing/targets.js'

export interface TestSources extends GitSources {
  /** The folder of local copies. */
  readonly folder: string
  readonly discard: () => Promise<void>
}

export interface SourceOptions {
  readonly github_api_url?: string
  readonly github_fallback_token?: string
  readonly git_file_roots?: readonly string[]
  readonly targets?: Targets
  readonly limits?: Partial<Limits>
  readonly path?: string
  readonly data_dir?: string
  readonly clock?: () => number
}

/** Sources of an install that only this machine reaches, unless `targets` says otherwise. */
export function testSources(options: SourceOptions = {}): TestSources {
  const data_dir = options.data_dir ?? mkdtempSync(join(tmpdir(), 'svc-sources-'))
  const config: SourceParts['config'] = {
    data_dir,
    github_api_url: options.github_api_url ?? 'http://127.0.0.1:1',
    github_fallback_token: options.github_fallback_token ?? null,
    git_file_roots: options.git_file_roots ?? [],
    inherited: { PATH: options.path ?? process.env.PATH ?? '' },
  }
  const limits = { ...defaultLimits, ...options.limits }
  const targets = options.targets ?? createTargets([], true)
  const sources = openSources({ config, targets, clock: options.clock ?? Date.now, limits })
  return {
    ...sources,
    folder: join(data_dir, 'git'),
    discard: async () => {
      await sources.close()
      rmSync(data_dir, { recursive: true, force: true })
    },
  }
}

const nowhere = { owner: '', name: '', branch: 'main', url: null, token: null } as const

export function githubAddress(name: string, more: Partial<RepositoryAddress> = {}): RepositoryAddress {
  return { ...nowhere, provider: 'github', owner: 'acme', name, ...more }
}

export function gitAddress(url: string, more: Partial<RepositoryAddress> = {}): RepositoryAddress {
  return { ...nowhere, provider: 'git', url, ...more }
}

/** Asserts that the call fails as a SourceError of this kind; returns the error. */
export async function faultOf(call: Promise<unknown>, code: string): Promise<SourceError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SourceError)
  expect([(error as SourceError).code, (error as SourceError).message]).toEqual([code, expect.any(String)])
  return error as SourceError
}
