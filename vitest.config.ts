import { defineConfig } from 'vitest/config'

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
          exclude: ['test/**/*.full.test.ts'],
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
          globalSetup: 'test/support/global-setup.ts',
          include: ['test/**/*.full.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
