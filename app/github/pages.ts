// Lists of GitHub, page by page, up to a limit.
import { type AskGithub, SourceError } from '@svc/platform'

interface Listing {
  readonly path: string
  /** The member that holds the items; by default the answer is a list itself. */
  readonly member?: string
  readonly max_items: number
  /** True if items after this one are of no use. */
  readonly isLast?: (item: unknown) => boolean
}

export interface Listed {
  readonly items: readonly unknown[]
  /** False when there are more items than `max_items`. */
  readonly is_complete: boolean
}

const perPage = 100

/** Follows the links to the next pages. Rejects with SourceError. */
export async function listAll(ask: AskGithub, { path, member, max_items, isLast }: Listing): Promise<Listed> {
  const items: unknown[] = []
  let next: string | null = `${path}${path.includes('?') ? '&' : '?'}per_page=${perPage}`
  while (next !== null) {
    const { body, headers } = await ask({ path: next })
    const page = member === undefined ? body : (body as Readonly<Record<string, unknown>> | null)?.[member]
    if (!Array.isArray(page)) throw new SourceError('fetch_failed', 'GitHub sent no list: check SVC_GITHUB_API_URL')
    for (const item of page) {
      if (items.length === max_items) return { items, is_complete: false }
      items.push(item)
      if (isLast?.(item) === true) return { items, is_complete: true }
    }
    const query = nextQuery(headers.link)
    next = page.length === 0 || query === null ? null : `${path.replace(/\?.*$/, '')}${query}`
  }
  return { items, is_complete: true }
}

/** The query of the next page in a `Link` header (RFC 8288); the path stays, whatever host the link names. */
function nextQuery(link: string | undefined): string | null {
  const found = /<([^>]*)>;\s*rel="next"/.exec(link ?? '')?.[1] ?? ''
  return URL.canParse(found) ? new URL(found).search : null
}
