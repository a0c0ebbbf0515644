// `svc workspace`: who works where, as what, and what is offered to whom.
import type { MemberList, Offer, OfferList, Workspace } from '@svc/schemas'
import type { Command } from 'commander'
import { type Act, type Desk, deskCommand, type Told, table } from './desk.js'

export function workspaceCommand(): Command {
  const example = 'svc workspace promote "Acme Compliance"\n  svc workspace invite mia@example.org --role auditor'
  return deskCommand('workspace', 'share a workspace: members, invitations, roles, ownership', acts, example)
}

const path = ({ here }: Desk) => `/auth/workspaces/${here().org_id}`
const done = (line: string): Told => ({ lines: [line], json: { done: true } })

const acts: readonly Act[] = [
  {
    call: 'list',
    does: 'the workspaces you are a member of',
    run: async ({ account }) => ({
      lines: table(account.workspaces.map((one) => workspaceRow(one, account.current_workspace))),
      json: { workspaces: account.workspaces, current_workspace: account.current_workspace },
    }),
  },
  {
    call: 'use <workspace>',
    does: 'work in another workspace, by its id or name',
    run: async ({ account, post }, [wanted]) => {
      const found = account.workspaces.filter(({ org_id, name }) => org_id === wanted || name === wanted)
      const [one] = found
      if (one === undefined) throw new Error('you are in no workspace of this id or name: see svc workspace list')
      if (found.length > 1) throw new Error('several workspaces have this name: use the id, see svc workspace list')
      await post(`/auth/workspaces/${one.org_id}/switch`)
      return done(`you work in ${one.name} now, as ${one.role}`)
    },
  },
  {
    call: 'promote <name>',
    does: 'share your personal workspace under this name; you get a fresh personal one',
    run: async (desk, [name]) => {
      await desk.post(`${path(desk)}/promote`, { name })
      return done(`${name} can be shared now: invite somebody with svc workspace invite`)
    },
  },
  {
    call: 'members',
    does: 'who is in the workspace',
    run: async (desk) => {
      const list = await desk.get<MemberList>(`${path(desk)}/members`)
      const rows = list.members.map(({ email, role, suspended_at }) => [
        ...[email, role, suspended_at === null ? '' : `suspended since ${suspended_at}`],
      ])
      return { lines: [`${desk.here().name}:`, ...table(rows)], json: list }
    },
  },
  {
    call: 'invite <email>',
    does: 'invite somebody; the invitation is for this address alone, and for seven days',
    options: [['--role <role>', 'what they become; admin is offered to members', 'member']],
    choices: { role: ['member', 'auditor'] },
    run: (desk, [email], { role }) => offered(desk, { kind: 'invitation', email, role }),
  },
  {
    call: 'offer <what> <email>',
    does: 'offer a member the role admin, the ownership (transfer), or the ownership when you leave (successor)',
    choices: { what: ['admin', 'transfer', 'successor'] },
    run: (desk, [kind, email]) => offered(desk, { kind, email }),
  },
  {
    call: 'offers',
    does: 'what is offered to you, and in this workspace where you may see that',
    options: [['--all', 'also what was decided, revoked or is over']],
    run: async (desk, _args, { all }) => {
      const mine = await desk.get<OfferList>('/auth/offers')
      const isAdmin = ['owner', 'admin'].includes(desk.here().role)
      const made = isAdmin ? await desk.get<OfferList>(`${path(desk)}/offers`) : { offers: [] }
      const shown = (offers: readonly Offer[]) => offers.filter(({ state }) => all !== undefined || state === 'pending')
      const lines = [
        ...told('to you', shown(mine.offers)),
        ...(isAdmin ? told(`in ${desk.here().name}`, shown(made.offers)) : []),
      ]
      return { lines, json: { to_you: mine.offers, here: made.offers } }
    },
  },
  ...(['accept', 'decline'] as const).map(
    (move): Act => ({
      call: `${move} [offer]`,
      does: `${move} what is offered to you; without an id, the only offer there is`,
      run: async ({ get, post }, [id]) => {
        const chosen = id ?? theOnly((await get<OfferList>('/auth/offers')).offers)
        const offer = await post<Offer>(`/auth/offers/${encodeURIComponent(chosen)}/${move}`)
        if (move === 'accept' && offer.kind === 'invitation') {
          await post(`/auth/workspaces/${offer.org_id}/switch`)
          return { lines: [`you are ${offer.role} in ${offer.workspace} now, and work there`], json: offer }
        }
        return { lines: [`${offer.state}: ${offer.kind} in ${offer.workspace}`], json: offer }
      },
    }),
  ),
  {
    call: 'revoke <offer>',
    does: 'take an offer back',
    run: async (desk, [id]) => {
      const offer = await desk.post<Offer>(`${path(desk)}/offers/${encodeURIComponent(id ?? '')}/revoke`)
      return { lines: [`${offer.state}: ${offer.kind} to ${offer.email}`], json: offer }
    },
  },
  {
    call: 'role <email> <role>',
    does: 'make somebody a member or an auditor; admin is offered',
    choices: { role: ['member', 'auditor'] },
    run: (desk, [email = '', role]) => acted(desk, email, 'role', `${email} is ${role} now`, { role }),
  },
  {
    call: 'suspend <email>',
    does: 'stop a member, from the next request on',
    run: (desk, [email = '']) => acted(desk, email, 'suspend', `${email} is suspended`),
  },
  {
    call: 'unsuspend <email>',
    does: 'let a member back in',
    run: (desk, [email = '']) => acted(desk, email, 'unsuspend', `${email} is back in`),
  },
  {
    call: 'remove <email>',
    does: 'take a member out; API keys stay',
    run: (desk, [email = '']) => acted(desk, email, 'remove', `${email} is out`),
  },
  {
    call: 'leave',
    does: 'leave the workspace; the owner only where a successor has accepted',
    run: async (desk) => {
      const { name } = desk.here()
      await desk.post(`${path(desk)}/leave`)
      return done(`you have left ${name}`)
    },
  },
]

function workspaceRow({ org_id, name, kind, role, is_suspended }: Workspace, current: string | null): string[] {
  return [org_id === current ? '*' : ' ', org_id, name, kind, is_suspended ? `${role}, suspended` : role]
}

async function offered(desk: Desk, request: object): Promise<Told> {
  const offer = await desk.post<Offer>(`${path(desk)}/offers`, request)
  const what = `${offer.kind} in ${offer.workspace} offered to ${offer.email}`
  return { lines: [`${what} until ${offer.expires_at}  (${offer.id})`], json: offer }
}

async function acted(desk: Desk, email: string, verb: string, line: string, body: object = {}): Promise<Told> {
  await desk.post(`${path(desk)}/members/${await desk.memberOf(email)}/${verb}`, body)
  return done(line)
}

function told(where: string, offers: readonly Offer[]): string[] {
  const rows = offers.map(({ id, kind, email, role, state, workspace }) => [id, state, kind, role, email, workspace])
  return [`${where}: ${rows.length === 0 ? 'nothing' : ''}`.trimEnd(), ...table(rows).map((row) => `  ${row}`)]
}

function theOnly(offers: readonly Offer[]): string {
  const pending = offers.filter(({ state }) => state === 'pending')
  const [one] = pending
  if (one === undefined) throw new Error('nothing is offered to you')
  if (pending.length > 1) throw new Error('several things are offered to you: name one, see svc workspace offers')
  return one.id
}
