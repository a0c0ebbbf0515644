// Asks once more before a policy is deleted.
import { PlatformError } from '../../../errors.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { confirmView } from '../../views/fields.js'
import type { Act, Shown, Visit } from '../../visit.js'
import { policyPath } from './policy.js'

async function show(visit: Visit): Promise<Shown> {
  const { id, name } = await visit.api.read('policy', policyPath(visit))
  if (!visit.api.may('delete', policyPath(visit)))
    throw new PlatformError('FORBIDDEN', 'your role reads policies and does not delete them')
  const content = confirmView({
    csrf: visit.csrf,
    lines: [
      'From then on no step is checked against it. This cannot be undone.',
      'Its incidents stay, and the deleted policy can still be read.',
      'To end it for a time, disable it instead.',
    ],
    label: 'Delete the policy',
    back: paths.policy(id),
  })
  return { title: `Delete: ${name}`, place: 'policies', content: content.toHTML() }
}

const remove: Act = async (visit) => {
  await visit.api.change('policy', 'delete', policyPath(visit))
  return paths.policies()
}

export const deletePolicyPage: DashboardPage = { path: '/policies/:id/delete', show, acts: { delete: remove } }
