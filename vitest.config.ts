import { defineConfig } from 'vitest/config'

/** The slow tests that repeat kills, changes or random runs, and how often they do so at night. */
const repeated = {
  SVC_CRASH_CYCLES: '50',
  SVC_KILLS: '20',
  SVC_LOAD_SECONDS: '60',
  SVC_MUTATIONS: '10000',
  SVC_MUTATION_EACH: '5',
  SVC_FUZZ_CALLS: '400',
}
const repeating = [
  'test/app/kills.full.test.ts',
  'test/e2e/{crash,crash-traces,health-beside-load}.full.test.ts',
  'test/platform/git/killed-resync.full.test.ts',
  'test/platform/http/fuzz-schema.full.test.ts',
  'test/platform/incidents/actions/killed.full.test.ts',
  'test/platform/log/{bundle,task}-mutations.full.test.ts',
]

/** Random tests, which run a tenth of their runs elsewhere (test/support/random.ts). */
const random = [
  'test/engine/analysis/{analysis-fuzz,analysis-paths-fuzz}.test.ts',
  'test/engine/rules/{evaluate-fuzz,hostile-steps,pattern,phrases,times}.test.ts',
  'test/engine/{convert/span-batches,manifest/hostile-manifests,serve/odd-steps,trace/metadata,trace/read-batches}.test.ts',
  'test/platform/git/model.test.ts',
  'test/platform/log/{altered,honest}-histories.test.ts',
  'test/proof/{canonical-text,json-grammar,log,note,missing-entries,escaped-names}.test.ts',
]

const shared = {
  resolve: { conditions: ['@svc/source'] },
  ssr: { resolve: { conditions: ['@svc/source'] } },
}

export default defineConfig({
  test: {
    // One more than the processors of an ordinary machine: part of the time is spent waiting.
    maxWorkers: 3,
    projects: [
      {
        ...shared,
        test: {
          name: 'fast',
          provide: { project: 'fast' },
          // No module keeps a state that changes, so that files can share what they have loaded.
          isolate: false,
          globalSetup: 'test/support/global-setup.ts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{full,night}.test.ts'],
          // Against hanging only: slow machines, and busy ones, take their time.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'full',
          provide: { project: 'full' },
          isolate: false,
          globalSetup: 'test/support/global-setup.ts',
          include: ['test/**/*.full.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          name: 'night',
          provide: { project: 'night' },
          isolate: false,
          globalSetup: 'test/support/global-setup.ts',
          include: ['test/**/*.night.test.ts', ...repeating, ...random],
          env: repeated,
          testTimeout: 7_200_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
