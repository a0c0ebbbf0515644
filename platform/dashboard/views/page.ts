// Pages that need no dashboard: plain HTML without scripts, every value escaped.
import type { Problem } from '@svc/schemas'
import type { Request, Response } from 'express'
import Handlebars from 'handlebars'
import { styleAddress } from './style.js'

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

const refusal = pageOf(
  'This did not work',
  `<p class="said">{{words}}</p>
{{#if id}}<p><code>{{id}}</code></p>
{{/if}}<p><a href="{{again}}">Go back</a></p>`,
)

/** Whether a person waits for the answer at a browser, and not a program. */
export function isAtBrowser(request: Request): boolean {
  return /\btext\/html\b/.test(request.get('accept') ?? '') && !request.path.startsWith('/api/')
}

/** What a program is told by a problem. */
export function refusalPage({ detail, status, request_id }: Problem, { method, path }: Request): string {
  const words = `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`
  // A form is on the page of its own address; where nothing is there is nothing to go back to.
  return refusal({ words, id: status >= 500 ? request_id : '', again: method === 'POST' ? path : '/' })
}

export function show(response: Response, status: number, html: string): void {
  response.setHeader('cache-control', 'no-store')
  response.status(status).type('html').send(html)
}
