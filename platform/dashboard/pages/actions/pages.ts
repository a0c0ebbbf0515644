// The pages of actions; Express tries them in this order.
import type { DashboardPage } from '../../page.js'
import { actionPage, deleteActionPage } from './action.js'
import { deliveryPage } from './deliveries.js'
import { editActionPage, newActionPage } from './form.js'
import { actionsPage } from './list.js'

export const actionPages: readonly DashboardPage[] = [
  actionsPage,
  newActionPage,
  actionPage,
  editActionPage,
  deleteActionPage,
  deliveryPage,
]
