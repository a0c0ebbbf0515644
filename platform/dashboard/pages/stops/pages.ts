// The pages about stops.
import type { DashboardPage } from '../../page.js'
import { stopsPage } from './list.js'
import { newStopPage } from './new.js'
import { stopPage } from './stop.js'

/** Express tries them in this order. */
export const stopPages: readonly DashboardPage[] = [stopsPage, newStopPage, stopPage]
