// What the owner of an account does: install an App, choose its repositories, suspend it, move repositories.
import { accountShape, installationShape, shortRepository } from './shapes.js'
import { fire, send } from './webhooks.js'
import {
  type Account,
  type App,
  fullName,
  type Installation,
  isoTime,
  type Json,
  type Permissions,
  type Repository,
  repositoriesOf,
  type World,
} from './world.js'

const hour = 3_600_000

/** Installs the App on the account: on all repositories, or on the given ones. */
export function install(
  world: World,
  app: App,
  account: Account,
  repositories: 'all' | readonly Repository[] = 'all',
  permissions: Permissions = app.permissions,
): Installation {
  const installation: Installation = {
    id: world.nextId(),
    app,
    account,
    repository_selection: repositories === 'all' ? 'all' : 'selected',
    selected: new Set(repositories === 'all' ? [] : repositories),
    permissions: { ...permissions, metadata: 'read' },
    created_at: isoTime(world.now()),
    suspended_at: null,
    deleted: false,
    rate: { used: 0, resets: world.now() + hour },
  }
  world.installations.push(installation)
  tell(world, installation, 'created')
  return installation
}

export function uninstall(world: World, installation: Installation): void {
  tell(world, installation, 'deleted')
  installation.deleted = true
}

export function suspend(world: World, installation: Installation): void {
  installation.suspended_at = isoTime(world.now())
  tell(world, installation, 'suspend')
}

export function unsuspend(world: World, installation: Installation): void {
  installation.suspended_at = null
  tell(world, installation, 'unsuspend')
}

export function addRepositories(world: World, installation: Installation, added: readonly Repository[]): void {
  installation.repository_selection = 'selected'
  for (const repository of added) installation.selected.add(repository)
  tellRepositories(world, installation, 'added', added)
}

export function removeRepositories(world: World, installation: Installation, removed: readonly Repository[]): void {
  if (installation.repository_selection === 'all') {
    for (const repository of repositoriesOf(world, installation)) installation.selected.add(repository)
    installation.repository_selection = 'selected'
  }
  for (const repository of removed) installation.selected.delete(repository)
  tellRepositories(world, installation, 'removed', removed)
}

export function rename(world: World, repository: Repository, name: string): void {
  const from = repository.name
  repository.former_names.add(fullName(repository).toLowerCase())
  repository.name = name
  const payload = { action: 'renamed', changes: { repository: { name: { from } } } }
  fire(world, { event: 'repository', repository, sender: repository.owner, payload })
}

/** Moves the repository to another account. An installation on the former owner loses it. */
export function transfer(world: World, repository: Repository, owner: Account): void {
  const former = repository.owner
  const lost = world.installations.filter(
    (one) => one.account === former && repositoriesOf(world, one).includes(repository),
  )
  repository.former_names.add(fullName(repository).toLowerCase())
  repository.owner = owner
  for (const installation of lost) {
    installation.selected.delete(repository)
    tellRepositories(world, installation, 'removed', [repository])
  }
  for (const installation of world.installations) {
    if (repositoriesOf(world, installation).includes(repository)) {
      tellRepositories(world, installation, 'added', [repository])
    }
  }
  const member = former.type === 'Organization' ? 'organization' : 'user'
  const changes = { owner: { from: { [member]: accountShape(world, former) } } }
  fire(world, { event: 'repository', repository, sender: former, payload: { action: 'transferred', changes } })
}

export function remove(world: World, repository: Repository): void {
  fire(world, { event: 'repository', repository, sender: repository.owner, payload: { action: 'deleted' } })
  repository.deleted = true
}

/** Events of installations go to every App, subscribed or not, also while it is suspended. */
function tell(world: World, installation: Installation, action: string): void {
  send(world, installation.app, 'installation', {
    action,
    installation: installationShape(world, installation),
    repositories: repositoriesOf(world, installation).map(shortRepository),
    requester: null,
    sender: accountShape(world, installation.account),
  })
}

function tellRepositories(
  world: World,
  installation: Installation,
  action: 'added' | 'removed',
  repositories: readonly Repository[],
): void {
  if (installation.deleted || installation.suspended_at !== null) return
  const payload: Json = {
    action,
    installation: installationShape(world, installation),
    repository_selection: installation.repository_selection,
    repositories_added: action === 'added' ? repositories.map(shortRepository) : [],
    repositories_removed: action === 'removed' ? repositories.map(shortRepository) : [],
    requester: null,
    sender: accountShape(world, installation.account),
  }
  send(world, installation.app, 'installation_repositories', payload)
}
