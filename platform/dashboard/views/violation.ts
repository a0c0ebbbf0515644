// A violation in a list: a policy's title alone, such as "Refunds are confirmed by a person", reads as good news.
import { type Html, link, nothing, piece, ticked } from './html.js'

/** What happened, as one line: the title of the policy that was violated. */
export function violatedText(policy_name: string): string {
  return `Violated: ${policy_name}`
}

/** The reason of a violation, with code between its backticks. */
export function reasonText(reason: string, max = Number.POSITIVE_INFINITY): Html {
  const shown = reason.length > max ? `${reason.slice(0, max)}…` : reason
  return own({ text: ticked(shown) })
}

const own = piece('<bdi>{{text}}</bdi>')

const maxReason = 160

interface Violated {
  readonly policy_name: string
  readonly reason: string
  /** The page that the first line leads to. */
  readonly href: string
  /** After the first line, such as a severity. */
  readonly marks?: Html
  /** After the reason. */
  readonly more?: Html
}

/** A row of a list: the violated policy as a link, and below it the reason. */
export function violated({ policy_name, reason, href, marks = nothing, more = nothing }: Violated): Html {
  return row({ name: link(href, violatedText(policy_name)), marks, reason: reasonText(reason, maxReason), more })
}

const row = piece(
  `<div class="long"><div>{{name}} {{marks}}</div><div class="text-secondary small">{{reason}} {{more}}</div></div>`,
)
