// Who leaves a workspace continues in the personal one.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
let mails: MailServer
beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url } })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

const here = async (person: SignedIn) => {
  const { current_workspace } = await person.me()
  return [current_workspace, (await person.call('GET', '/api/v1/agents')).status]
}

it.each(['leaves', 'is removed'])(
  'a member who %s continues in the personal workspace, in every session',
  async (how) => {
    const owner = await signedIn(platform, mails, `owner-${how.length}@example.org`)
    const path = `/auth/workspaces/${owner.org_id}`
    expect((await owner.call('POST', `${path}/promote`, { name: 'Acme' })).status).toBe(204)
    const person = await signedIn(platform, mails, `person-${how.length}@example.org`)
    await join(owner, person, owner.org_id, 'member')
    expect((await person.call('POST', `${path}/switch`)).status).toBe(204)
    const elsewhere = await signedIn(platform, mails, person.email)
    expect([await here(person), await here(elsewhere)]).toEqual(Array(2).fill([owner.org_id, 200]))
    const ended =
      how === 'leaves'
        ? await person.call('POST', `${path}/leave`)
        : await owner.call('POST', `${path}/members/${person.id}/remove`)
    expect(ended.status).toBe(204)
    expect([await here(person), await here(elsewhere)]).toEqual(Array(2).fill([person.org_id, 200]))
  },
)
