// Names and texts in a check run are what they are: they link to nothing, mention no one, and fit.
import type { ImpactReport, TaskFlip } from '@svc/platform'
import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { type CheckContent, contentOf } from '../../app/check/content/content.js'
import type { CheckFacts } from '../../app/check/facts.js'

const attacks = [
  '@acme/security',
  '@mia',
  '#123',
  'acme/other#4',
  'GH-12',
  'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678',
  'https://evil.example/a',
  'www.example.com',
  'ftp://evil.example',
  'mail@evil.example',
  '[click](https://evil.example)',
  '![x](https://evil.example/x.png)',
  '<img src=x onerror=alert(1)>',
  '<a href="https://evil.example">',
  '<!--',
  '-->',
  '</td></table>',
  '<details>',
  // Without its first digit it is the id of a commit.
  'fa1b2c3d4e5f60718293a4b5c6d7e8f9012345678',
  '|',
  '`',
  '``',
  '\\',
  '**',
  '_',
  '~~',
  '\n\n# Approved\n\n',
  '\n| a | b |\n',
  '> [!NOTE]',
  '- [x] ',
  '1. ',
  ':tada:',
  '$x$',
  '&lt;',
  '&#64;mia',
  '`@mia`',
  '\u202e',
  '\u2066',
  '\u0000\u0007\u001b[31m',
  '\u{e0041}',
  '\ud800',
  '::error::x',
  '[^1]',
  '[x]: https://evil.example',
  '***',
  '===',
  ' ',
  'a',
] as const

const hostile = fc.oneof(
  fc.array(fc.constantFrom(...attacks), { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
  fc.constantFrom(...attacks).map((attack) => attack.repeat(Math.ceil(60_000 / attack.length))),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
)

const web_url = 'https://github.com/acme/policies'

/** Facts with hostile words everywhere. */
function factsWith(words: readonly string[], kind: number): CheckFacts {
  const word = (index: number) => words[index % words.length] ?? ''
  const file = `policies/${word(0)}.yaml`
  const isInvalid = kind === 1
  const finding = {
    id: isInvalid ? ('wrong-value' as const) : ('unused-anchor' as const),
    severity: isInvalid ? ('error' as const) : ('warning' as const),
  }
  const agent = (index: number): ImpactReport['agents'][number] => ({
    agent_id: `ag_${index}`,
    agent_key: word(index + 1),
    name: word(index + 2),
    risk_classification: 'high',
    manifest_paths: [file],
    policies_before: 3,
    policies_after: index % 2,
    tasks: 10,
    steps: 15,
    flipped_tasks: 2,
    newly_blocked_tasks: 2,
    newly_asked_tasks: 0,
    no_longer_blocked_tasks: 0,
  })
  const flip = (index: number): TaskFlip => ({
    agent_id: `ag_${index}`,
    agent_key: word(index + 1),
    change: null,
    blocked_step: null,
    flip: {
      task_id: word(index + 3),
      source: null,
      step: 3,
      step_type: word(index),
      verb: 'POST',
      step_name: word(index + 4),
      happened: true,
      before: 'allow',
      after: 'block',
      policies: [
        {
          name: word(5),
          side: 'new',
          severity: 'critical',
          effect: 'blocks',
          code: 'X',
          reason: word(index),
          remedy: null,
          manifest: file,
          line: 4,
        },
      ],
    },
  })
  return {
    pull_number: 1,
    head_sha: 'a'.repeat(40),
    base: { branch: word(1), commit: 'b'.repeat(40) },
    web_url,
    changed: [file],
    validation: {
      manifests: [
        {
          file,
          name: word(2),
          version: word(3),
          policies: 1,
          valid: true,
          value: null,
          coverage: null,
          tests:
            kind === 2
              ? [
                  {
                    name: word(4),
                    passed: false,
                    action: 'allow',
                    outcome: 'allow',
                    violated: [],
                    failures: [word(5)],
                    policies: [],
                    file,
                    line: 3,
                  },
                ]
              : [],
        },
      ],
      findings: Array.from({ length: 80 }, (_, index) => ({
        ...finding,
        message: `${word(index)} is \`${word(index + 1)}\``,
        file,
        line: 2,
        column: 3,
        path: '',
      })),
      skipped: [],
    },
    lines: { head: new Map([[file, new Map([[word(5), 4]])]]), base: new Map() },
    diff: {
      manifests: [
        {
          path: file,
          old: { name: word(0), version: word(1) },
          new: { name: word(2), version: word(3) },
          policies: [
            {
              name: word(5),
              old_name: word(1),
              change: 'looser',
              members: [{ path: word(4), old: word(2), new: [word(3)], effect: 'looser' }],
            },
          ],
          waivers: [{ policy: word(5), agent_key: word(1), new: '2027-01-31', change: 'looser' }],
          counts: { added: 0, removed: 0, stricter: 0, looser: 2, changed: 0 },
          agents: [],
          affected_agents: [],
        },
      ],
      compared: 1,
      counts: { added: 0, removed: 0, stricter: 0, looser: 2, changed: 0 },
      affected_agents: [],
      ungoverned_agents: [word(1)],
    },
    left_out: [file],
    moves: [{ from: file, to: word(3) }],
    broken_tests: [{ path: file, name: word(1), change: 'removed', failures: [word(2)] }],
    checked: [{ path: file, what: `the waiver of \`${word(4)}\` is added` }],
    impact: {
      agents: Array.from({ length: 60 }, (_, index) => agent(index)),
      pinned_agents: [
        { agent_id: 'ag_p', agent_key: word(1), name: word(2), manifest_path: file, pinned_sha: 'c'.repeat(40) },
      ],
      recorded_tasks: 100,
      sampled_tasks: 100,
      tasks: 100,
      steps: 900,
      left_out: [],
      flipped_tasks: 90,
      newly_blocked_tasks: 2,
      newly_asked_tasks: 2,
      no_longer_blocked_tasks: 2,
      first_flips: { total: 90, listed: Array.from({ length: 60 }, (_, index) => flip(index)) },
    },
    days: 30,
    hidden: null,
    is_replayed: true,
    are_tests_run: kind !== 3,
    loosenings: [{ path: file, what: `the policy \`${word(5)}\` is looser`, is_certain: true }],
    requirement:
      kind === 3
        ? {
            kind: 'required',
            because: `\`${word(2)}\` is the account of an agent, ${word(1)}`,
            missing: [
              { path: file, users: [word(3)], unresolved: [] },
              { path: word(4), users: [], unresolved: [word(5)] },
            ],
          }
        : { kind: 'approved', because: '', by: [word(1)], reviewers: [word(1)] },
    settings_findings: [{ ...finding, message: word(1), file: '.github/svc.yml', line: 1, column: 1, path: '' }],
  }
}

const md = new MarkdownIt({ html: true, linkify: true })
const ours = new Set([
  'p',
  'strong',
  'h2',
  'hr',
  'h3',
  'ol',
  'ul',
  'li',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'br',
  'code',
  'a',
])

/** Mentions, issues, and ids of commits: of short ones only those with a digit and a letter are no words. */
const references = /@[a-z0-9]\S*|#\d+|\bGH-\d+|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|\b[0-9a-f]{40}\b/gi

/** What a page does that none of our own words does. */
function harms(page: string): string[] {
  const html = md.render(page)
  const tags = [...html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, tag = '']) => tag.toLowerCase())
  const tokens = md.parse(page, {}).flatMap((token) => [token, ...(token.children ?? [])])
  const raw = tokens.filter(({ type, content }) => type.startsWith('html_') && !/^<(br|code|\/code)>$/.test(content))
  const links = tokens.flatMap((token, index, all) => {
    if (token.type !== 'link_open') return []
    const text = all[index + 1]?.content ?? ''
    // GitHub links no bare name of a domain.
    const isBare = token.markup === 'linkify' && !/^(www\.|https?:|ftp:|mailto:)|@/i.test(text)
    const href = token.attrGet('href') ?? ''
    return isBare || href.startsWith(`${web_url}/blob/`) ? [] : [href]
  })
  const text = html
    .replace(/<code>.*?<\/code>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
  return [
    ...tags.filter((tag) => !ours.has(tag)).map((tag) => `tag ${tag}`),
    ...raw.map(({ content }) => `HTML ${content}`),
    ...links.map((link) => `link ${link}`),
    ...(html.includes('<!--') ? ['comment'] : []),
    ...(text.match(references) ?? []).map((one) => `reference ${one}`),
    ...(page.match(/[\p{Bidi_Control}\p{Cs}\u{E0000}-\u{E007F}]|(?!\n)\p{Cc}/gu) ?? []).map(
      (one) => `character ${one.codePointAt(0)?.toString(16)}`,
    ),
  ]
}

function assertFits({ title, summary, text = '', annotations }: CheckContent): void {
  expect(title.length).toBeLessThanOrEqual(255)
  expect(title).not.toMatch(/\p{Cc}/u)
  for (const page of [summary, text]) {
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(65_535)
    expect(page.trim()).not.toBe('')
  }
  for (const { title: head, message, path, start_line, end_line } of annotations) {
    expect([...head].length).toBeLessThanOrEqual(255)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(65_535)
    expect(message).not.toBe('')
    expect(path).not.toBe('')
    expect(end_line).toBe(start_line)
    expect(`${head}${message}`).not.toMatch(/\p{Cc}/u)
  }
}

describe('a check run with hostile names', () => {
  it('is inert and fits', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 6 }), fc.integer({ min: 0, max: 3 }), (words, kind) => {
        const content = contentOf(factsWith(words, kind))
        assertFits(content)
        expect(harms(content.summary)).toEqual([])
        expect(harms(content.text ?? '')).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it.each(attacks)('such as %j is inert', (attack) => {
    for (const kind of [0, 1, 2, 3]) {
      const { summary, text = '' } = contentOf(factsWith([attack], kind))
      expect(harms(summary)).toEqual([])
      expect(harms(text)).toEqual([])
    }
  })

  it.each(attacks.slice(0, 14))('such as %j would harm if it were written as it is', (attack) => {
    expect(harms(`a ${attack} b`)).not.toEqual([])
  })
})
