// Versions as they are printed.
import { components } from './components.js'

export { productVersion } from './components.js'

type Name = (typeof components)[number]['name']

/** The version of a component. */
export function versionOf(name: Name): string {
  return components.find((component) => component.name === name)?.version ?? ''
}

/** One component a line, such as `engine 0.12.0`. */
export function versionLines(names: readonly Name[]): string {
  return names.map((name) => `${name} ${versionOf(name)}`).join('\n')
}
