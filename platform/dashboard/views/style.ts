// The style sheet of the pages, in the light or dark colours that the visitor prefers.
import { Router } from 'express'

export const styleAddress = '/assets/page.css'

const sheet = `:root { color-scheme: light dark; --ink: #1a1f2b; --soft: #5b6475; --ground: #f4f5f8; --card: #fff;
  --line: #d9dde6; --accent: #2346c7; --on-accent: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebf2; --soft: #a3acbd; --ground: #12151c; --card: #1b2029; --line: #343c4a; --accent: #8fa8ff; --on-accent: #10131a }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
main { width: 100%; max-width: 27rem; padding: 2.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .9rem }
main.wide { max-width: 46rem; min-width: 0; padding: clamp(1.25rem, 5vw, 2.25rem) }
h1 { margin: 0 0 1rem; font-size: 1.45rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere }
h2 { margin: 1.75rem 0 .25rem; font-size: 1.05rem }
form.row { flex-wrap: nowrap; align-items: center; justify-content: space-between; margin: .5rem 0 0 }
form.row > p { margin: 0; min-width: 0; overflow-wrap: anywhere }
form.row > button { flex: 0 0 auto; padding: .35rem .8rem }
form.offer { padding: 1rem; border: 1px solid var(--line); border-radius: .6rem }
form.offer > p { flex: 1 0 100%; margin: 0 }
p { margin: 0 0 1rem; color: var(--soft) }
p.message { color: var(--ink) }
main > :last-child { margin-bottom: 0 }
a { color: var(--accent) }
form { margin: 1.25rem 0 0; display: flex; flex-wrap: wrap; gap: .75rem }
strong { color: var(--ink) }
form + p { margin: 1.25rem 0 0; font-size: .9rem }
label { flex: 1 0 100%; display: grid; gap: .35rem; font-weight: 600 }
input { width: 100%; padding: .65rem .8rem; font: inherit; font-weight: 400; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: .5rem }
input[name=user_code] { font: 1.3rem ui-monospace, monospace; letter-spacing: .12em; text-transform: uppercase }
button { flex: 1; padding: .7rem 1.1rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent);
  border: 1px solid var(--accent); border-radius: .5rem; cursor: pointer }
button.quiet { color: var(--ink); background: transparent; border-color: var(--line) }
:is(input, button):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
dl { display: grid; grid-template-columns: minmax(5rem, max-content) 1fr; gap: .4rem 1.25rem; margin: 0 0 1rem }
dt { color: var(--soft) }
dd { margin: 0 }
dd, li, p.message { overflow-wrap: anywhere; unicode-bidi: isolate }
table { width: 100%; margin: .5rem 0 1rem; border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .4rem .75rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { color: var(--soft); font-weight: 400 }
:is(th, td):last-child { padding-right: 0 }
ul { margin: .5rem 0 1rem; padding: 0; list-style: none }
li { padding: .4rem 0; border-bottom: 1px solid var(--line) }
li > p { margin: .25rem 0 0 }
.lines { white-space: pre-line }
code { font: .92em ui-monospace, monospace; color: var(--ink) }
`

export function pageStyle(): Router {
  const router = Router()
  router.get(styleAddress, (_request, response) => {
    response.setHeader('cache-control', 'public, max-age=3600')
    response.type('css').send(sheet)
  })
  return router
}
