// HTML of the pages: escaped text, the Markdown that GitHub shows, and the frame of every page.
import MarkdownIt from 'markdown-it'

export interface Page {
  readonly status: number
  readonly html: string
  readonly location?: string
}

/** Markup that is safe to put into a page. */
export interface Html {
  readonly markup: string
}

type Value = Html | string | number | readonly Html[]

/** A template whose values are escaped, unless they are markup. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const markup = strings.map((text, index) => text + (index < values.length ? markupOf(values[index] ?? '') : ''))
  return { markup: markup.join('') }
}

function markupOf(value: Value): string {
  if (typeof value === 'object') return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const markdownIt = new MarkdownIt({ html: false, linkify: true })
// Of HTML in Markdown only the line break is needed: everything else is shown as it is written.
markdownIt.inline.ruler.before('html_inline', 'line_break', (state, silent) => {
  if (!state.src.startsWith('<br>', state.pos)) return false
  if (!silent) state.push('hardbreak', 'br', 0)
  state.pos += '<br>'.length
  return true
})

export function markdown(text: string): Html {
  return { markup: `<div class="markdown">${markdownIt.render(text)}</div>` }
}

const style = `
:root{--line:#d1d9e0;--soft:#f6f8fa;--dim:#59636e;--link:#0969da}
*{box-sizing:border-box}body{margin:0;color:#1f2328;background:#fff;font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
header{padding:12px 24px;background:var(--soft);border-bottom:1px solid var(--line)}header a{font-weight:600}
main{padding:16px 24px;max-width:1280px;margin:auto}h1{font-size:22px;font-weight:400;margin:0 0 8px}h2.bar{font-size:18px;margin:0}
.dim{color:var(--dim)}.columns{display:grid;grid-template-columns:190px minmax(0,1fr);gap:24px;margin-top:16px}
.side{font-size:13px}.side a,.side b{display:block;padding:6px 8px;border-radius:6px}.side b{background:var(--soft);border-left:3px solid #0969da}
.box{border:1px solid var(--line);border-radius:6px;margin:16px 0}.box>div{padding:10px 16px;border-top:1px solid var(--line)}.box>div:first-child{border-top:0}
.state{display:inline-block;padding:3px 12px;border-radius:2em;color:#fff;background:#1a7f37}.closed{background:#8250df}
button{font:inherit;font-weight:500;padding:4px 12px;border:1px solid #1a7f37;border-radius:6px;background:#1f883d;color:#fff;cursor:pointer}
button.plain{color:#25292e;background:var(--soft);border-color:var(--line)}form{display:inline}.side form{display:block;margin-top:8px}
.mark{display:inline-block;min-width:1.1em;font-weight:700}.success{color:#1a7f37}.failure{color:#d1242f}.action_required{color:#9a6700}.neutral{color:var(--dim)}
.markdown{overflow-wrap:break-word}.markdown h2,.markdown h3{border-bottom:1px solid var(--line);padding-bottom:.3em;line-height:1.25;margin:24px 0 16px}
.markdown h2{font-size:1.5em}.markdown h3{font-size:1.25em;border:0;padding:0}
.markdown table{border-collapse:collapse;display:block;width:max-content;max-width:100%;overflow:auto;margin:0 0 16px}
.markdown th,.markdown td{border:1px solid var(--line);padding:6px 13px;vertical-align:top}.markdown tr:nth-child(even){background:var(--soft)}
.markdown>:first-child{margin-top:0}.markdown>:last-child{margin-bottom:0}.markdown+.markdown{margin-top:16px}
.markdown hr{height:4px;border:0;background:var(--line);margin:24px 0}
code{font:85% ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace;background:#818b981f;padding:.2em .4em;border-radius:6px;overflow-wrap:anywhere}
pre{font:12px/20px ui-monospace,Menlo,"Liberation Mono",monospace;margin:0;overflow:auto}pre b,pre a{display:inline-block;width:4em;text-align:right;margin-right:16px;font-weight:400;color:var(--dim)}
pre span{display:block;min-height:20px}pre span:target,pre .from{background:#fff8c5}pre .plus{background:#dafbe1}pre .minus{background:#ffebe9}
.note{border-left:4px solid #0969da}.note.warning{border-left-color:#bf8700}.note.failure{border-left-color:#d1242f;color:inherit}`

export function page(title: string, body: Html, status = 200): Page {
  const whole = html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${{ markup: style }}</style>
<header><a href="/">A GitHub on this machine</a> <span class="dim">for the demonstration; nothing here leaves it</span></header>
<main>${body}</main></html>`
  return { status, html: whole.markup }
}

export function redirect(location: string): Page {
  return { status: 303, html: '', location }
}
