import type { World } from '../world.js'

export interface Page {
  readonly status: number
  readonly html: string
  readonly location?: string
}

export function pageOf(_: World, _method: string, _path: string): Page {
  return { status: 404, html: '' }
}
