// Pages that need no dashboard: plain HTML without scripts, every value escaped.
import type { NextFunction, Request, Response } from 'express'
import Handlebars from 'handlebars'
import { errorTable } from '../errors.js'
import { styleAddress } from './page-style.js'
import { asPlatformError } from './problem.js'

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

const refusal = pageOf('This did not work', '<p class="said">{{words}}</p>\n<p><a href="{{again}}">Go back</a></p>')

/** A person gets a page where a program gets a problem; what nobody expected is answered further out, and logged there. */
export function showRefusals(error: unknown, request: Request, response: Response, next: NextFunction): void {
  const known = asPlatformError(error)
  const isPerson = /\btext\/html\b/.test(request.get('accept') ?? '')
  if (!isPerson || known.code === 'INTERNAL' || response.headersSent) {
    next(error)
    return
  }
  for (const [name, value] of Object.entries(known.headers)) response.setHeader(name, value)
  show(
    response,
    errorTable[known.code].status,
    refusal({ words: `${known.message.charAt(0).toUpperCase()}${known.message.slice(1)}.`, again: request.path }),
  )
}

export function show(response: Response, status: number, html: string): void {
  response.setHeader('cache-control', 'no-store')
  response.status(status).type('html').send(html)
}
