// Chooses the implementation of a source by its provider.
import { join } from 'node:path'
import { library } from '@svc/library'
import type { Config } from '../../config.js'
import { createOutgoing } from '../../outgoing/outgoing.js'
import { createTargets, type Targets } from '../../outgoing/targets.js'
import { createGithubApi } from '../github/api.js'
import { bundledBranch, bundledSource } from './bundled.js'
import { createGithub } from './github.js'
import { defaultLimits, type Limits } from './limits.js'
import { createRemote } from './remote.js'
import type { GitSources } from './source.js'

export interface SourceParts {
  readonly config: Pick<
    Config,
    'data_dir' | 'github_api_url' | 'github_fallback_token' | 'git_file_roots' | 'inherited'
  >
  /** The targets that URLs of callers may have. */
  readonly targets: Targets
  readonly clock: () => number
  readonly limits?: Limits
}

export function openSources({ config, targets, clock, limits = defaultLimits }: SourceParts): GitSources {
  // The operator names the address of GitHub, which may be on a private network; no other address is called there.
  const outgoing = createOutgoing(createTargets('all', false), limits.timeoutMs)
  const github = createGithub({
    api: createGithubApi({ outgoing, clock, api_url: config.github_api_url }),
    limits,
    fallback_token: config.github_fallback_token,
  })
  const remote = createRemote({
    targets,
    limits,
    file_roots: config.git_file_roots,
    folder: join(config.data_dir, 'git'),
    path: config.inherited.PATH ?? '',
  })
  let closed: Promise<void> | null = null
  return {
    inspect: async (address) => {
      if (address.provider === 'github') return github.inspect(address)
      if (address.provider === 'git') return remote.inspect(address)
      const branch = address.branch ?? bundledBranch
      await bundledSource(library, branch).resolve(null)
      return { visibility: 'public', branch }
    },
    open: (address, cache) => {
      if (address.provider === 'github') return github.open(address)
      if (address.provider === 'git') return remote.open(address, cache)
      return bundledSource(library, address.branch)
    },
    forget: remote.forget,
    close: () => {
      remote.close()
      closed ??= outgoing.close()
      return closed
    },
  }
}
