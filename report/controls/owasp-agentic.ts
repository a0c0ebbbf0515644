// The OWASP Top 10 for Agentic Applications: what policies that name a risk found in the period.
import type { ControlDefinition, Framework } from './definition.js'
import { fromPolicies } from './sentences.js'

const flow = ['tainted_path_block', 'value_flow_forbidden', 'value_from']
const limits = ['execution_max_steps', 'execution_max_tool_calls', 'step_rate_limit', 'usage_budget']

/** Number, title as published, what it asks of a defence, what policies cannot see, rules that belong to it. */
type Risk = readonly [number: string, title: string, asks: string, gap: string, rule_types?: readonly string[]]

const risks: readonly Risk[] = [
  [
    '01',
    'Agent Goal Hijack',
    'Content of others does not steer the goals of an agent.',
    'Content without a label and the intent of a text are not seen.',
    flow,
  ],
  [
    '02',
    'Tool Misuse and Exploitation',
    'An agent uses the tools of its task, for their purpose.',
    'A permitted tool can still be misused within what policies allow.',
    ['step_name_in_allowlist'],
  ],
  [
    '03',
    'Identity and Privilege Abuse',
    'An agent acts with the rights of its task and no others.',
    'Rights in other systems, and whether a stated principal is true, are not seen.',
  ],
  [
    '04',
    'Agentic Supply Chain Vulnerabilities',
    'Tools, models and prompts of others come from known sources.',
    'The code of tools is not inspected; a tool that names no source is not checked.',
  ],
  [
    '05',
    'Unexpected Code Execution (RCE)',
    'Code and commands run only where they are meant to.',
    'What a command does in the end is not seen.',
    ['path_within_root'],
  ],
  [
    '06',
    'Memory & Context Poisoning',
    'What an agent remembers is not altered by content of others.',
    'Memory outside of recorded steps is not seen.',
  ],
  [
    '07',
    'Insecure Inter-Agent Communication',
    'Messages between agents are authentic and limited.',
    'Transport, signatures and channels that send no steps are not seen.',
  ],
  [
    '08',
    'Cascading Failures',
    'A failure stays within limits and does not spread.',
    'Limits count per task or per agent; effects in other systems are not seen.',
    limits,
  ],
  [
    '09',
    'Human-Agent Trust Exploitation',
    'People are not led to approve or believe what they should not.',
    'What people read and understand is not seen.',
  ],
  [
    '10',
    'Rogue Agents',
    'An agent that leaves its purpose is recognised and stopped.',
    'An agent that sends no steps is not seen.',
  ],
]

function control([number, title, asks, gap, rule_types = []]: Risk): ControlDefinition {
  const gaps = [gap, 'A risk is covered only as far as policies check for it.']
  const control_id = `asi${number}`
  return { control_id, title, asks, gaps, rule_types, find: (_, policies) => fromPolicies(policies) }
}

export const owaspAgentic: Framework = {
  id: 'asi',
  title: 'OWASP Top 10 for Agentic Applications',
  source: 'OWASP GenAI Security Project, Top 10 for Agentic Applications 2026',
  draft: false,
  controls: risks.map(control),
}
