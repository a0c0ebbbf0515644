// Writes plain data as YAML that `readYaml` reads as the same value.
import { yaml } from './yaml.js'

/** One document; long texts stay on one line, and nothing is an alias. */
export function writeYaml(value: unknown): string {
  return yaml().stringify(value, { version: '1.2', schema: 'core', lineWidth: 0, aliasDuplicateObjects: false })
}
