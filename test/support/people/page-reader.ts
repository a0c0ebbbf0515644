// Pages as a browser without scripts reads them, and forms as it sends them.
import { csrfIn } from './people.js'

export interface PageAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

type Fields = Readonly<Record<string, string | readonly string[]>>

export interface PageReader {
  readonly look: (path: string) => Promise<PageAnswer>
  /** Sends a form with the token of the session; fields that are lists are sent several times. */
  readonly press: (path: string, act: string, fields?: Fields) => Promise<PageAnswer>
}

/** Reads pages with the cookie of a signed-in browser. */
export function pageReader(url: string, cookie: string): PageReader {
  const headers = { accept: 'text/html', cookie }
  const answered = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  })
  const look = async (path: string) => answered(await fetch(url + path, { headers, redirect: 'manual' }))
  return {
    look,
    press: async (path, act, fields = {}) => {
      const csrf = csrfIn((await look('/account')).text)
      const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
      const body = new URLSearchParams([['csrf', csrf], ['act', act], ...pairs] as [string, string][])
      return answered(await fetch(url + path, { method: 'POST', headers, body, redirect: 'manual' }))
    },
  }
}

/** The text of a page as a person reads it: without tags and places where a line may break, with single spaces. */
export function readable(html: string): string {
  const plain = html
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>/g, '')
    .replaceAll('<wbr>', '')
    .replaceAll(/<[^>]*>/g, ' ')
  const named = { amp: '&', lt: '<', gt: '>', quot: '"' } as const
  return plain
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&(amp|lt|gt|quot);/g, (_, name: keyof typeof named) => named[name])
    .replaceAll(/\s+/g, ' ')
}

/** The values of the buttons of a page that act. */
export function actsIn(html: string): string[] {
  return [...html.matchAll(/name="act" value="(\w+)"/g)].map(([, name = '']) => name)
}
