// The account page: the offers to a person, their workspaces, sign-out and the end of the account.

import type { Offer, Workspace } from '@svc/schemas'
import { type Request, type Response, Router } from 'express'
import { decideOffer } from '../../access/commands/decide-offer.js'
import { endAccount } from '../../access/commands/end-account.js'
import { signOut } from '../../access/commands/sign-in.js'
import { expireOffersUnscoped, readOffersToUnscoped } from '../../access/store/members.js'
import { isWaitlisted, workspacesOfUnscoped } from '../../access/store/people.js'
import { setSessionOrgUnscoped } from '../../access/store/sessions.js'
import { withUnscopedTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { rejectOtherOrigins } from '../../http/client.js'
import type { Role } from '../../http/principal.js'
import { formOf, readForm, type Visitor, visitorOf } from '../browser.js'
import { clearCookies } from '../cookies.js'
import type { PageParts } from '../parts.js'
import { pageOf, sentenceOf, show } from '../views/page.js'

const page = pageOf(
  'Your account',
  `<p>Signed in as <strong>{{email}}</strong>.</p>
{{#unless waitlisted}}<p><a href="/">Open the dashboard</a></p>
{{/unless}}{{#if waitlisted}}<p>You are on the waiting list: your personal workspace opens when the operator of this platform releases your account.
You can accept invitations to other workspaces here at once.</p>
{{/if}}{{#if message}}<p class="message" role="status">{{message}}</p>{{/if}}
{{#each offers}}<form method="post" action="/account" class="offer">
<input type="hidden" name="csrf" value="{{../csrf}}"><input type="hidden" name="id" value="{{id}}">
<p class="message"><strong>{{workspace}}</strong> {{proposal}}.</p>
<button name="act" value="accept">Accept</button>
<button name="act" value="decline" class="quiet">Decline</button>
</form>
{{else}}<p>You have no pending invitations or offers.</p>
{{/each}}<h2>Workspaces</h2>
{{#each workspaces}}<form method="post" action="/account" class="row">
<input type="hidden" name="csrf" value="{{../csrf}}"><input type="hidden" name="id" value="{{org_id}}">
<p><strong>{{name}}</strong> {{role}}</p>
{{#if note}}<p>{{note}}</p>{{else}}<button name="act" value="use" class="quiet">Switch</button>{{/if}}
</form>
{{/each}}<form method="post" action="/account">
<input type="hidden" name="csrf" value="{{csrf}}"><button name="act" value="logout" class="quiet">Sign out</button>
</form>
<h2>Terminal</h2>
<p>To work from a terminal, run <code>npx --no-install svc login --url {{url}}</code> and approve it on the page that it opens.</p>
<h2>End your account</h2>
<p>You leave every workspace. Your personal workspace is closed and its API keys are revoked. Its logs are kept until their
retention ends. Your address is erased. This cannot be undone.</p>
<form method="post" action="/account">
<input type="hidden" name="csrf" value="{{csrf}}">
<label>Your address, to confirm <input name="email" type="email" autocomplete="off" required></label>
<button name="act" value="end" class="quiet">End my account</button>
</form>`,
)

const ended = pageOf(
  'Your account has ended',
  '<p class="message">You are signed out in every browser and program, and your address is erased.</p>\n<p><a href="/sign-in">Sign in with a new account</a></p>',
)

/** GET and POST /account. */
export function accountPage(parts: PageParts): Router {
  const router = Router()
  const answer = async (response: Response, visitor: Visitor, status = 200, message = '') => {
    const { person, email } = visitor
    const { offers, workspaces } = await withUnscopedTransaction(parts.db, async (tx) => {
      await expireOffersUnscoped(tx, parts.clock())
      const offered = await readOffersToUnscoped(tx, email)
      return {
        offers: offered.filter(({ state }) => state === 'pending'),
        workspaces: await workspacesOfUnscoped(tx, person.person_id),
      }
    })
    const rows = workspaces.map((one) => workspaceView(one, person))
    const csrf = parts.access_tokens.csrfOf(person.session_id)
    const values = { email, message, csrf, url: parts.url(), waitlisted: person.is_waitlisted }
    show(response, status, page({ ...values, offers: offers.map(offerView), workspaces: rows }))
  }
  router.get('/account', async (request: Request, response: Response) => {
    const visitor = await visitorOf(parts, request, null)
    if (visitor === null) response.redirect(303, '/sign-in')
    else await answer(response, visitor)
  })
  router.post('/account', readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const { act = '', id = '', csrf = '', email = '' } = formOf(request)
    const visitor = await visitorOf(parts, request, csrf)
    if (visitor === null) return response.redirect(303, '/sign-in')
    try {
      if (act === 'end') {
        await parts.limits.by_person.take(visitor.person.person_id)
        await endAccount(parts, visitor.person.person_id, email)
        clearCookies(parts, response)
        return show(response, 200, ended({}))
      }
      if (Object.hasOwn(actions, act)) await actions[act]?.(parts, visitor, id)
      if (act === 'logout') clearCookies(parts, response)
      response.redirect(303, '/account')
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code === 'UNAVAILABLE') throw error
      const message = error.code === 'INVALID' ? 'this is not the address of your account' : error.message
      await answer(response, visitor, 409, sentenceOf(message))
    }
  })
  return router
}

const actions: Readonly<Record<string, (parts: PageParts, visitor: Visitor, id: string) => Promise<unknown>>> = {
  accept: (parts, visitor, id) => decide(parts, visitor, id, 'accept'),
  decline: (parts, visitor, id) => decide(parts, visitor, id, 'decline'),
  logout: (parts, { person }) => signOut(parts, person.session_id),
  use: ({ db }, { person }, id) =>
    withUnscopedTransaction(db, async (tx) => {
      const found = (await workspacesOfUnscoped(tx, person.person_id)).find(({ org_id }) => org_id === id)
      const isOpen = found !== undefined && !found.is_suspended && !isWaitlisted(person.is_capped, found.kind)
      if (!isOpen) throw new PlatformError('NOT_FOUND', 'you cannot work in this workspace')
      await setSessionOrgUnscoped(tx, person.session_id, id)
    }),
}

function decide(parts: PageParts, { person, email }: Visitor, id: string, move: 'accept' | 'decline') {
  return decideOffer(parts, { person_id: person.person_id, email }, id, move)
}

const proposals: Readonly<Record<Offer['kind'], (role: Role) => string>> = {
  invitation: (role) => `invites you to join as ${role}`,
  admin: (role) => `offers you the role ${role}`,
  transfer: () => 'offers you its ownership',
  successor: () => 'offers you its ownership when the owner leaves',
}

function offerView({ id, workspace, role, kind }: Offer) {
  return { id, workspace, proposal: proposals[kind](role) }
}

function workspaceView(
  { org_id, name, kind, role, is_suspended }: Workspace,
  { org_id: current, is_capped }: Visitor['person'],
) {
  const isClosed = isWaitlisted(is_capped, kind)
  const state = is_suspended ? ', suspended' : isClosed ? ', opens when the operator releases your account' : ''
  const note = org_id === current && !isClosed ? 'current workspace' : isClosed ? 'waitlisted' : ''
  return { org_id, name, role: `${role}${state}`, note }
}
