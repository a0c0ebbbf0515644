// Messages for incoming webhooks of Slack. Names come from agents: nothing in them may become markup, a mention or a link.
import { parseJson } from '@svc/proof'
import type { ActionKindDefinition } from './kind.js'
import { post, readAddress } from './post.js'
import { type DeliveryBody, type Summary, summaryOf } from './summary.js'

export const slack: ActionKindDefinition = {
  read: (parts, config) => readAddress(parts, 'slack', config, shortAddress),
  newSecret: null,
  send: (parts, org_id, receiver, { body }, signal) => {
    const text = slackBody(summaryOf(parseJson(body) as DeliveryBody, parts.public_url))
    return post(parts, org_id, receiver, { headers: { 'content-type': 'application/json' }, body: text }, signal)
  },
}

/** The body of the request. The text is for notifications; the blocks are what a channel shows. */
export function slackBody({ title, lines, link }: Summary): string {
  const all = [title, ...lines].map(escaped)
  const text = all.join('\n')
  const section = { type: 'section', text: { type: 'plain_text', text: text.slice(0, 2900), emoji: false } }
  const open = link === null ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: `<${link}|Open the incident>` } }]
  return JSON.stringify({
    text,
    blocks: [section, ...open],
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  })
}

/** The three characters with a meaning in texts of Slack; `@` is made visible text, also where a client links names. */
function escaped(text: string): string {
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return plain.replaceAll('@', '@\u2060')
}

/** The address as it is shown: it is all that a caller needs to post to the channel. */
function shortAddress(url: string): string {
  return `${new URL(url).origin}/…${url.slice(-4)}`
}
