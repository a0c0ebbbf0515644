// The pages about manifests: assignments, repositories and their files.
import type { DashboardPage } from '../../page.js'
import { assignmentPage } from './assignment.js'
import { connectPage } from './connect.js'
import { filePage } from './file.js'
import { filesPage } from './files.js'
import { assignmentsPage } from './list.js'
import { repositoriesPage } from './repositories.js'
import { repositoryPage } from './repository.js'
import { sourcePage } from './source.js'

/** Express tries them in this order. */
export const manifestPages: readonly DashboardPage[] = [
  assignmentsPage,
  assignmentPage,
  sourcePage,
  repositoriesPage,
  connectPage,
  repositoryPage,
  filesPage,
  filePage,
]
