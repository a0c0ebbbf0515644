// The pages of settings; Express tries them in this order.
import type { DashboardPage } from '../../page.js'
import { filePage } from './file.js'
import { generalPage } from './general.js'
import { erasuresPage, holdsPage } from './holds.js'
import { keysPage } from './keys.js'
import { logPage } from './log.js'
import { memberPage } from './member.js'
import { membersPage } from './members.js'
import { retentionPage } from './retention.js'

export const settingsPages: readonly DashboardPage[] = [
  generalPage,
  membersPage,
  memberPage,
  keysPage,
  logPage,
  retentionPage,
  holdsPage,
  erasuresPage,
  filePage,
]
