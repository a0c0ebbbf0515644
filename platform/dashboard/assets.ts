// The files that pages load: style sheets and scripts of libraries, and our own. Each has its hash in its address, so that browsers
// keep it, and is compressed once.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type Request, type Response, Router } from 'express'

const require = createRequire(import.meta.url)

function asset(name: string, path: string) {
  const content = readFileSync(path)
  const [base, type] = name.split('.')
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { address: `/assets/${base}.${hash}.${type}`, type: type === 'css' ? 'text/css' : 'text/javascript', content }
}

const own = (name: string) => asset(name, fileURLToPath(new URL(`assets/${name}`, import.meta.url)))

const files = {
  tabler_css: asset('tabler.css', require.resolve('@tabler/core/dist/css/tabler.min.css')),
  page_css: own('page.css'),
  page_js: own('page.js'),
  htmx_js: asset('htmx.js', require.resolve('htmx.org/dist/htmx.min.js')),
}

/** The addresses of the files, for the head of a page. */
export const addresses = {
  tabler_css: files.tabler_css.address,
  page_css: files.page_css.address,
  page_js: files.page_js.address,
  htmx_js: files.htmx_js.address,
}

const encoders = {
  br: (content: Buffer) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (content: Buffer) => promisify(gzip)(content),
} as const

/** The style sheet of the library, 635 kB, becomes 67 kB in 60 ms; the highest quality takes 1.5 s for 57 kB. */
const brotliQuality = 7

/** Serves the files. */
export function assets(): Router {
  const router = Router()
  const compressed = new Map<string, Promise<Buffer>>()
  for (const { address, type, content } of Object.values(files)) {
    router.get(address, async (request: Request, response: Response) => {
      const encoding = request.acceptsEncodings('br', 'gzip')
      response.setHeader('cache-control', 'public, max-age=31536000, immutable')
      response.setHeader('vary', 'accept-encoding')
      response.type(`${type}; charset=utf-8`)
      if (encoding !== 'br' && encoding !== 'gzip') {
        response.end(content)
        return
      }
      const key = `${encoding} ${address}`
      const made = compressed.get(key) ?? encoders[encoding](content)
      compressed.set(key, made)
      response.setHeader('content-encoding', encoding)
      response.end(await made)
    })
  }
  return router
}
