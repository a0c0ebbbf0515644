// The page that shows the API description; it loads nothing from other origins.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Request, type Response, Router } from 'express'
import { openapiDocument } from './openapi.js'
import type { Endpoint } from './route.js'

const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const shipped = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<main id="docs"></main>
<noscript><p>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</p></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const start = `window.ui = SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null, docExpansion: 'list',
  defaultModelsExpandDepth: 0,
})
`

export function docsRouter(routes: readonly Endpoint[], version: string): Router {
  const router = Router()
  const document = JSON.stringify(openapiDocument(routes, version))
  router.get('/openapi.json', (_request: Request, response: Response) => {
    response.type('application/json').send(document)
  })
  router.get('/', ({ headers: { accept = '' } }: Request, response: Response, next: () => void) => {
    // Browsers get the overview.
    if (accept.includes('text/html')) next()
    else response.redirect('/docs')
  })
  router.get('/docs', (_request: Request, response: Response) => {
    response.type('html').send(page)
  })
  router.get('/docs/start.js', (_request: Request, response: Response) => {
    response.type('js').send(start)
  })
  for (const name of shipped) {
    router.get(`/docs/${name}`, (_request: Request, response: Response) => response.sendFile(join(assets, name)))
  }
  return router
}
