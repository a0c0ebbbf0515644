// The pages of tasks; Express tries them in this order.
import type { DashboardPage } from '../../page.js'
import { tasksPage } from './list.js'
import { stepsPage } from './steps.js'
import { taskPage } from './task.js'

export const taskPages: readonly DashboardPage[] = [tasksPage, taskPage, stepsPage]
