import { need } from '../../check/need.js'

/** The YAML package, loaded when the first manifest is read: many agents start without one. */
export function yaml(): typeof import('yaml') {
  return need('yaml') as typeof import('yaml')
}
