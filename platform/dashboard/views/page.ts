// The frame of the small pages around the sign-in, with every value escaped, and messages for people.
import type { Problem } from '@svc/schemas'
import type { Request, Response } from 'express'
import { addresses } from '../assets.js'
import { template } from './html.js'

export type Page = (values: Readonly<Record<string, unknown>>) => string

/** A page with this heading and body, Handlebars templates. */
export function pageOf(heading: string, body: string): Page {
  return template(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${heading} · svc</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${addresses.tabler_css}"><link rel="stylesheet" href="${addresses.page_css}">
<script src="${addresses.page_js}"></script>
</head>
<body class="small-page">
<main>
<h1>${heading}</h1>
${body}
</main>
</body>
</html>
`)
}

const problemView = pageOf(
  'The request failed',
  `<p class="message">{{message}}</p>
{{#if id}}<p><code>{{id}}</code></p>
{{/if}}<p><a href="{{back}}">Go back</a></p>`,
)

/** True if the caller is a browser, and not a program. */
export function isBrowser(request: Request): boolean {
  return /\btext\/html\b/.test(request.get('accept') ?? '') && !request.path.startsWith('/api/')
}

/** The page of a problem. */
export function problemPage({ detail, status, request_id }: Problem, { method, path }: Request): string {
  // A form is posted to the address of its own page.
  const back = method === 'POST' ? path : '/'
  return problemView({ message: sentenceOf(detail), id: status >= 500 ? request_id : '', back })
}

/** An error message as a sentence for people. */
export function sentenceOf(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

export function show(response: Response, status: number, html: string): void {
  response.setHeader('cache-control', 'no-store')
  response.status(status).type('html').send(html)
}
