// Pages that need no dashboard: plain HTML without scripts, every value escaped.
import type { Response } from 'express'
import Handlebars from 'handlebars'
import { styleAddress } from './page-style.js'

export type Page = (values: Readonly<Record<string, unknown>>) => string

/** A page with this heading and body, a Handlebars template. */
export function pageOf(heading: string, body: string): Page {
  return Handlebars.compile(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${heading} · svc</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${styleAddress}">
</head>
<body>
<main>
<h1>${heading}</h1>
${body}
</main>
</body>
</html>
`,
    { strict: true },
  )
}

export function show(response: Response, status: number, html: string): void {
  response.setHeader('cache-control', 'no-store')
  response.status(status).type('html').send(html)
}
