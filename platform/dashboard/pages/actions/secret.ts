// A signing secret, which is shown once.
import { paths } from '../../paths.js'
import { id as copied, nothing, piece, time } from '../../views/html.js'
import type { Shown } from '../../visit.js'

interface NewSecret {
  readonly id: string
  readonly name: string
  readonly secret: string
  /** Null for a new action. */
  readonly previous_secret_until: string | null
}

export function secretShown({ id, name, secret, previous_secret_until }: NewSecret): Shown {
  const content = view({
    secret: copied(secret),
    until: previous_secret_until === null ? nothing : time(previous_secret_until),
    has_previous: previous_secret_until !== null,
    href: paths.action(id),
  })
  return { title: `Secret of ${name}`, place: 'actions', content: content.toHTML() }
}

const view = piece(`<section class="card"><div class="card-body">
<p>Requests of this action are signed with this secret. Give it to the receiver. <strong>It is shown only now.</strong></p>
<p class="fs-3">{{secret}}</p>
{{#if has_previous}}<p>Until {{until}} requests are signed with the previous secret too, so that the receiver can change over.</p>{{/if}}
<a class="btn btn-primary" href="{{href}}">I have stored the secret</a></div></section>
`)
