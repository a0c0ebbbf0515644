// The files of a new manifest repository beside the example, by path.
import { exampleManifest } from './example.js'

export interface EditorSchemas {
  readonly manifest: object
  readonly tests: object
}

/** The path and the text of each file; the JSON Schemas are those of a manifest and of a file of tests. */
export function filesOf(schemas: EditorSchemas): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', readme],
    ['policies/refunds.yaml', exampleManifest],
    ['inventory.yaml', inventory],
    ['.svc/manifest.schema.json', asJson(schemas.manifest)],
    ['.svc/manifest-tests.schema.json', asJson(schemas.tests)],
    ['.vscode/settings.json', asJson(settings)],
    ['.vscode/extensions.json', asJson({ recommendations: ['redhat.vscode-yaml'] })],
    ['.github/workflows/policies.yml', workflow],
    ['.github/CODEOWNERS', codeOwners],
  ])
}

function asJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

const settings = {
  'yaml.schemas': {
    './.svc/manifest.schema.json': ['policies/**/*.yaml', '!policies/**/*.test.yaml'],
    './.svc/manifest-tests.schema.json': ['policies/**/*.test.yaml'],
  },
  '[yaml]': { 'editor.insertSpaces': true, 'editor.tabSize': 2 },
}

const readme = `# Policies of AI agents

- \`policies/\` holds the manifests: policies with their tests. \`svc rules\` lists the rules to build them from.
- Check a change: \`svc validate policies --strict\`, then \`svc test policies --coverage\`. Write \`npx --no-install svc\` where svc is a package of the project.
- For readers who do not know YAML: \`svc docs policies --out docs\` writes tables; \`--check\` reports those that are not current.
- \`inventory.yaml\` lists the agents. \`.github/workflows/policies.yml\` and \`.github/CODEOWNERS\` need your names: see their comments.
- Editors complete and check manifests with the schemas in \`.svc/\`. After an update of svc, copy them from a new \`svc init\` folder.
`

const inventory = `# SPDX-License-Identifier: Apache-2.0
# The agents that these policies are for, so that "svc diff --inventory inventory.yaml" names those that a change affects.
# risk_classification: minimal, limited, high, unacceptable or unclassified.
agents:
  - agent_key: refund-desk
    name: Refund desk
    risk_classification: limited
    declared_tools: [read_order, refund, send_mail]
`

const workflow = `# SPDX-License-Identifier: Apache-2.0
# Checks the policies of each pull request. Before the first run, add svc to this repository once, from its packed packages
# (npm install --save-dev with the .tgz files), and commit them with package.json and package-lock.json: "npm ci"
# installs svc from there. "npx --no-install" runs only what is installed; a package named svc on the public registry
# belongs to others. A GitHub Action of svc is not published yet; once it is, it can replace these commands.
name: policies
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  policies:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - run: npm ci --ignore-scripts
      - run: npx --no-install svc validate policies --strict
      - run: npx --no-install svc test policies --coverage --require-tests --strict
      - run: npx --no-install svc check policies
`

const codeOwners = `# The team that has to approve a change of the files below. Replace @your-organization/compliance by a team of yours with
# write access: until then GitHub reports an unknown owner here, and asks no one. In the settings of the repository, a rule
# for the branch main must require reviews from code owners.
/policies/ @your-organization/compliance
/inventory.yaml @your-organization/compliance
/.github/ @your-organization/compliance
`
