// The tools that an agent declares and those that it uses.
import type { Agent, AgentTools } from '@svc/schemas'
import { api, paths } from '../../paths.js'
import { badge, counted, type Html, link, number, piece, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'

/** The section of a page. */
export async function toolsOf({ api: { read } }: Visit, { agent_id }: Agent): Promise<Html> {
  const { tools, has_declared, of_last } = await read('agent-tools', api`/api/v1/agents/${agent_id}/tools`)
  const undeclared = has_declared ? tools.filter(({ declared }) => !declared).length : 0
  return section({
    note: has_declared
      ? ''
      : 'The agent never declared its tools. Declare them when it registers (`declared_tools`): policies can then allow these only.',
    warning: undeclared === 0 ? '' : `${counted(undeclared, 'tool is', 'tools are')} used but not declared.`,
    tools: tools.toSorted(byRank(has_declared)).map((tool) => rowOf(tool, has_declared)),
    count: link(paths.tasks({ agent_id }), of_last === 0 ? 'no step yet' : `the last ${counted(of_last, 'step')}`),
  })
}

type Tool = AgentTools['tools'][number]

/** Tools that were used without a declaration come first. */
const byRank = (has_declared: boolean) => (a: Tool, b: Tool) =>
  has_declared ? Number(a.declared) - Number(b.declared) : 0

function rowOf({ name, declared, uses, last_used }: Tool, has_declared: boolean) {
  return {
    name: text(name),
    verdict: verdictOf(declared, uses, has_declared),
    uses: number(uses),
    last: time(last_used),
  }
}

function verdictOf(declared: boolean, uses: number, has_declared: boolean): Html {
  if (!has_declared) return text('')
  if (!declared) return badge('used, not declared', 'red')
  return uses === 0 ? badge('declared, not used', 'secondary') : badge('declared and used', 'green')
}

const section = piece(`<section class="card"><div class="card-header"><h2 class="card-title">Tools</h2></div>
{{#if note}}<div class="card-body">{{note}}</div>{{/if}}{{#if warning}}<div class="card-body"><strong>{{warning}}</strong></div>{{/if}}
{{#if tools}}<table class="table rows"><thead><tr><th scope="col">Tool</th><th scope="col">State</th><th scope="col" class="num">Uses</th><th scope="col">Last used</th></tr></thead><tbody>
{{#each tools}}<tr><td data-label="Tool"><code>{{name}}</code></td><td data-label="State">{{verdict}}</td><td data-label="Uses" class="num">{{uses}}</td><td data-label="Last used">{{last}}</td></tr>
{{/each}}</tbody></table>{{/if}}<div class="card-footer">Uses are counted in {{count}} of the agent.</div></section>
`)
