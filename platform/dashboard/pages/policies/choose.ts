// The rules to choose from, by category.
import type { Rule } from '@svc/schemas'
import { paths } from '../../paths.js'
import { type Html, piece, ticked } from '../../views/html.js'
import { labelOf } from './parameters.js'
import { categories } from './words.js'

/** Rules that people write policies with: stops have their own page. */
export function isForPolicies({ name }: Pick<Rule, 'name'>): boolean {
  return name !== 'stopped'
}

/** Links to the form of each rule. `query` is kept. */
export function chooseView(rules: readonly Rule[], query: Readonly<Record<string, string>>): Html {
  const shown = rules.filter(isForPolicies)
  const groups = categories.map(([category, title]) => ({
    title,
    category,
    rules: shown
      .filter((rule) => rule.category === category)
      .map(({ name, doc }) => ({
        name,
        label: labelOf(name),
        doc: ticked(doc),
        href: paths.new_policy({ ...query, rule_type: name }),
      })),
  }))
  return view({ groups })
}

const view =
  piece(`<p>A policy is a rule with parameters, for some or all agents. Choose the rule: its form follows.</p>
<ul class="pills" aria-label="Categories">{{#each groups}}<li><a class="btn btn-sm" href="#{{category}}">{{title}}</a></li>{{/each}}</ul>
{{#each groups}}<section class="card" id="{{category}}"><div class="card-header"><h2 class="card-title">{{title}}</h2></div>
<div class="list-group list-group-flush">{{#each rules}}<a class="list-group-item list-group-item-action" href="{{href}}"><div class="fw-bold">{{label}}</div><div class="text-secondary">{{doc}}</div></a>
{{/each}}</div></section>
{{/each}}`)
