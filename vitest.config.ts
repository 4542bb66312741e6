import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { PlainLineReporter } from './packages/test-support/src/plain-line-reporter.ts'
import { SlowestFirst } from './packages/test-support/src/slowest-first.ts'

// A process runs files sequentially, and loads shared modules once.
const isolate = false

const packages = '{prisma,packages/*,services/*,bench}'

export default defineConfig({
  test: {
    reporters: ['default', new PlainLineReporter()],
    // Includes the time to stop the servers of the global setup.
    teardownTimeout: 30_000,
    // End-to-end tests wait most of their time: for due times, retries, and the processes that they start.
    maxWorkers: 2 * availableParallelism(),
    sequence: { sequencer: SlowestFirst },
    // The value of a production build. Each project needs its own object, because Vitest empties it.
    projects: [
      {
        define: { __FAILPOINTS__: 'false', __VIRTUAL_CLOCK__: 'false' },
        test: {
          name: 'unit',
          isolate,
          include: [`${packages}/src/**/*.test.ts`],
          testTimeout: 60_000, // property tests run many thousand cases, maybe on a busy machine
        },
      },
      {
        define: { __FAILPOINTS__: 'false', __VIRTUAL_CLOCK__: 'false' },
        test: {
          name: 'integration',
          isolate,
          include: [`${packages}/test/**/*.test.ts`, 'e2e/**/*.test.ts', 'examples/**/*.test.ts'],
          globalSetup: './vitest.global-setup.ts',
          // A busy machine may need ten times as long as an idle one.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
