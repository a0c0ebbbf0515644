// The pages of policies; Express tries them in this order.
import type { DashboardPage } from '../../page.js'
import { deletePolicyPage } from './delete.js'
import { editPolicyPage, newPolicyPage } from './form.js'
import { policiesPage } from './list.js'
import { policyPage } from './policy.js'

export const policyPages: readonly DashboardPage[] = [
  policiesPage,
  newPolicyPage,
  policyPage,
  editPolicyPage,
  deletePolicyPage,
]
