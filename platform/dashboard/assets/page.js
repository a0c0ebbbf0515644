// What pages do with scripts on top of what they do without: local times, copied ids, keys, colours of the system.
const root = document.documentElement
const chosen = /(?:^|;\s*)svc_theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1]
if (!root.dataset.bsTheme && chosen !== undefined) root.dataset.bsTheme = chosen
if (!root.dataset.bsTheme && matchMedia('(prefers-color-scheme: dark)').matches) root.dataset.bsTheme = 'dark'

const clock = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
}
const thisYear = new Intl.DateTimeFormat(undefined, clock)
const otherYear = new Intl.DateTimeFormat(undefined, { ...clock, year: 'numeric' })

function localTime(date) {
  const format = date.getFullYear() === new Date().getFullYear() ? thisYear : otherYear
  return format.format(date)
}

/** Shows times in the zone of the browser, and the buttons that need a script. */
function improve(part) {
  for (const time of part.querySelectorAll('time[datetime]:not([data-local])')) {
    time.dataset.local = ''
    time.textContent = localTime(new Date(time.dateTime))
  }
  if (matchMedia('(min-width: 48rem)').matches) for (const fold of part.querySelectorAll('.fold')) fold.open = true
  for (const one of part.querySelectorAll('.copy[hidden], .needs-script[hidden]')) one.hidden = false
}

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy)
  button.classList.add('done')
  setTimeout(() => button.classList.remove('done'), 1500)
}

/** `j` and `k` follow the links to the next and the previous page of a list; `/` goes to the search. */
function pressed(event) {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]')
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  const selector = { j: 'a[rel~="next"]', k: 'a[rel~="prev"]' }[event.key]
  if (selector !== undefined) document.querySelector(selector)?.click()
  if (event.key !== '/') return
  event.preventDefault()
  document.getElementById('search')?.focus()
}

/** The server does not know the colours of the system: the button offers the other ones. */
function offerColours() {
  const button = document.querySelector('button[name=theme]')
  if (button === null) return
  button.value = root.dataset.bsTheme === 'dark' ? 'light' : 'dark'
  button.textContent = `${button.value === 'dark' ? 'Dark' : 'Light'} colours`
}

document.addEventListener('DOMContentLoaded', () => {
  improve(document)
  for (const zone of document.querySelectorAll('[data-zone]'))
    zone.textContent = `Times in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`
  offerColours()
  // On a phone the navigation is a row that scrolls.
  document.querySelector('.side nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  document.addEventListener('keydown', pressed)
  document.addEventListener('click', (event) => {
    const button = event.target.closest('.copy')
    if (button) copy(button)
  })
  document.addEventListener('change', ({ target }) => {
    if (!target.matches('[data-all]')) return
    for (const box of target.form.querySelectorAll(`input[name="${target.dataset.all}"]`)) box.checked = target.checked
  })
  // Parts that are exchanged while the page stays open.
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) if (node instanceof Element) improve(node.parentElement ?? node)
  }).observe(document.body, { childList: true, subtree: true })
})
