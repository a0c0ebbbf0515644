import { idIn, objectIn } from '../github/members.js'
import type { Handler } from './handler.js'

/** Whatever happened to the installation or to a repository of it: what is true now is asked for. */
export const installation: Handler = {
  events: [
    'installation.created',
    'installation.deleted',
    'installation.suspend',
    'installation.unsuspend',
    'installation.new_permissions_accepted',
    'installation_repositories.added',
    'installation_repositories.removed',
    'repository.renamed',
    'repository.transferred',
    'repository.deleted',
    'repository.privatized',
    'repository.publicized',
  ],
  run: async (parts, payload) => {
    const id = idIn(objectIn(payload, 'installation'))
    if (id !== null) await parts.followInstallation(id)
  },
}
