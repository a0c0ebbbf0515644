// Offers: invitations, role offers, ownership transfers and successors.
import type { Offer, OfferList } from '@svc/schemas'
import type { Client } from './client.js'
import { type Output, type Subcommand, workspacePath } from './subcommand.js'
import { table } from './table.js'

export const offerSubcommands: readonly Subcommand[] = [
  {
    call: 'offer <what> <email>',
    description: 'offer a member the role admin, the ownership (transfer), or to own it after you leave (successor)',
    choices: { what: ['admin', 'transfer', 'successor'] },
    run: (client, [kind, email]) => sendOffer(client, { kind, email }),
  },
  {
    call: 'offers',
    description: 'list the offers to you and, as an admin, those of the workspace',
    options: [['--all', 'also those that are accepted, declined, revoked or expired']],
    run: async (client, _args, { all }) => {
      const { role, name } = client.workspace()
      const toYou = await client.get<OfferList>('/auth/offers')
      const isAdmin = ['owner', 'admin'].includes(role)
      const here = isAdmin ? await client.get<OfferList>(`${workspacePath(client)}/offers`) : { offers: [] }
      const shown = (offers: readonly Offer[]) => offers.filter(({ state }) => all !== undefined || state === 'pending')
      const lines = [
        ...offerLines('to you', shown(toYou.offers)),
        ...(isAdmin ? offerLines(`in ${name}`, shown(here.offers)) : []),
      ]
      return { lines, json: { to_you: toYou.offers, here: here.offers } }
    },
  },
  {
    call: 'accept [offer]',
    description: 'accept an offer to you; without an id, the only one',
    run: async (client, [id]) => {
      const offer = await answerOffer(client, id, 'accept')
      if (offer.kind !== 'invitation') return answered(offer)
      await client.post(`/auth/workspaces/${offer.org_id}/switch`)
      return { lines: [`the current workspace is ${offer.workspace}, your role is ${offer.role}`], json: offer }
    },
  },
  {
    call: 'decline [offer]',
    description: 'decline an offer to you; without an id, the only one',
    run: async (client, [id]) => answered(await answerOffer(client, id, 'decline')),
  },
  {
    call: 'revoke <offer>',
    description: 'revoke an offer',
    run: async (client, [id = '']) => {
      const offer = await client.post<Offer>(`${workspacePath(client)}/offers/${encodeURIComponent(id)}/revoke`)
      return { lines: [`${offer.state}: ${offer.kind} to ${offer.email}`], json: offer }
    },
  },
]

export async function sendOffer(client: Client, request: object): Promise<Output> {
  const offer = await client.post<Offer>(`${workspacePath(client)}/offers`, request)
  const what = `${offer.kind} in ${offer.workspace} offered to ${offer.email}`
  return { lines: [`${what} until ${offer.expires_at}  (${offer.id})`], json: offer }
}

async function answerOffer({ get, post, svc }: Client, id: string | undefined, verb: string): Promise<Offer> {
  const chosen = id ?? onlyPending((await get<OfferList>('/auth/offers')).offers, svc)
  return post<Offer>(`/auth/offers/${encodeURIComponent(chosen)}/${verb}`)
}

function answered(offer: Offer): Output {
  return { lines: [`${offer.state}: ${offer.kind} in ${offer.workspace}`], json: offer }
}

function onlyPending(offers: readonly Offer[], svc: string): string {
  const pending = offers.filter(({ state }) => state === 'pending')
  const [one] = pending
  if (one === undefined) throw new Error('there is no pending offer to you')
  if (pending.length === 1) return one.id
  throw new Error(`there are several offers to you: give the id of one, \`${svc} workspace offers\` lists them`)
}

function offerLines(heading: string, offers: readonly Offer[]): string[] {
  const rows = offers.map(({ id, kind, email, role, state, workspace }) => [id, state, kind, role, email, workspace])
  return [`${heading}: ${rows.length === 0 ? 'none' : ''}`.trimEnd(), ...table(rows).map((row) => `  ${row}`)]
}
