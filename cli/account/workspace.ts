// `svc workspace`: workspaces, offers in them, and their members.
import type { MemberList, Workspace } from '@svc/schemas'
import type { Command } from 'commander'
import type { Terminal } from '../terminal.js'
import { offerSubcommands, sendOffer } from './offers.js'
import { done, groupCommand, type Subcommand, workspacePath } from './subcommand.js'
import { table } from './table.js'

export function workspaceCommand(terminal: Terminal): Command {
  return groupCommand(terminal, {
    name: 'workspace',
    description: 'share a workspace: members, invitations, roles, ownership',
    subcommands: [...workspaceSubcommands, ...offerSubcommands, ...memberSubcommands],
    examples: ['workspace promote "Acme Compliance"', 'workspace invite mia@example.org --role auditor'],
  })
}

const workspaceSubcommands: readonly Subcommand[] = [
  {
    call: 'list',
    description: 'list your workspaces',
    run: async ({ account }) => ({
      lines: table(account.workspaces.map((one) => workspaceRow(one, account.current_workspace))),
      json: { workspaces: account.workspaces, current_workspace: account.current_workspace },
    }),
  },
  {
    call: 'use <workspace>',
    description: 'select the current workspace, by its id or name',
    run: async ({ account, post, svc }, [wanted = '']) => {
      const found = account.workspaces.filter(({ org_id, name }) => org_id === wanted || name === wanted)
      const [one] = found
      const hint = `\`${svc} workspace list\` lists them`
      if (one === undefined) throw new Error(`\`${wanted}\` is not the id or name of a workspace of yours: ${hint}`)
      if (found.length > 1) throw new Error(`several workspaces are named \`${wanted}\`: give the id of one, ${hint}`)
      await post(`/auth/workspaces/${one.org_id}/switch`)
      return done(`the current workspace is ${one.name}, your role is ${one.role}`)
    },
  },
  {
    call: 'promote <name>',
    description: 'share your personal workspace under this name; you get a new personal one',
    run: async (client, [name]) => {
      await client.post(`${workspacePath(client)}/promote`, { name })
      return done(`${name} can be shared: \`${client.svc} workspace invite EMAIL\` invites a member`)
    },
  },
  {
    call: 'members',
    description: 'list the members of the workspace',
    run: async (client) => {
      const list = await client.get<MemberList>(`${workspacePath(client)}/members`)
      const rows = list.members.map(({ email, role, suspended_at }) => [
        email,
        role,
        suspended_at === null ? '' : `suspended since ${suspended_at}`,
      ])
      return { lines: [`${client.workspace().name}:`, ...table(rows)], json: list }
    },
  },
  {
    call: 'invite <email>',
    description: 'invite a person; the invitation is valid for this address only, for seven days',
    options: [['--role <role>', 'role of the new member; the role admin is offered to members', 'member']],
    choices: { role: ['member', 'auditor'] },
    run: (client, [email], { role }) => sendOffer(client, { kind: 'invitation', email, role }),
  },
]

const memberSubcommands: readonly Subcommand[] = [
  {
    call: 'role <email> <role>',
    description: 'change the role of a member; the role admin is offered',
    choices: { role: ['member', 'auditor'] },
    ...change('role', (email, role) => `the role of ${email} is ${role}`),
  },
  {
    call: 'suspend <email>',
    description: 'suspend a member; takes effect at the next request',
    ...change('suspend', (email) => `${email} is suspended`),
  },
  {
    call: 'unsuspend <email>',
    description: 'end the suspension of a member',
    ...change('unsuspend', (email) => `${email} is no longer suspended`),
  },
  {
    call: 'remove <email>',
    description: 'remove a member; API keys stay valid',
    ...change('remove', (email) => `${email} is removed`),
  },
  {
    call: 'leave',
    description: 'leave the workspace; an owner can leave only after a successor has accepted',
    run: async (client) => {
      const { name } = client.workspace()
      await client.post(`${workspacePath(client)}/leave`)
      return done(`you have left ${name}`)
    },
  },
]

/** A change of the member with an address, and the line that reports it. */
function change(verb: string, line: (email: string, role: string) => string): Pick<Subcommand, 'run'> {
  return {
    run: async (client, [email = '', role = '']) => {
      const id = await client.memberId(email)
      await client.post(`${workspacePath(client)}/members/${id}/${verb}`, verb === 'role' ? { role } : {})
      return done(line(email, role))
    },
  }
}

function workspaceRow({ org_id, name, kind, role, is_suspended }: Workspace, current: string | null): string[] {
  return [org_id === current ? '*' : ' ', org_id, name, kind, is_suspended ? `${role}, suspended` : role]
}
