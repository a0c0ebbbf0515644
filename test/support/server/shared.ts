// Data outside the repository: tests that need it are skipped, with a message, where it is absent.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Path of a file under the folder beside the checkout, or null with a message. */
export function sharedData(path: string): string | null {
  const url = new URL(`../../../../shared/data/${path}`, import.meta.url)
  const built = new URL(`../../../../../shared/data/${path}`, import.meta.url)
  const found = [url, built].map((candidate) => fileURLToPath(candidate)).find((candidate) => existsSync(candidate))
  if (found === undefined) console.log(`skipped: ../shared/data/${path} is not here`)
  return found ?? null
}
