import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './packages/testing/src/longest-first.ts'
import { PlainLineReporter } from './packages/testing/src/plain-line-reporter.ts'

// A process runs one file after the other, and loads what they share once.
const isolate = false

const rooms = '{prisma,packages/*,services/*,bench}'

export default defineConfig({
  test: {
    reporters: ['default', new PlainLineReporter()],
    // Covers the end of the servers that the global setup has started.
    teardownTimeout: 30_000,
    // Many tests wait for real processes, so leaving one core free, as is the default, would idle a small machine.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // The constant is that of a production build. Each project needs an object of its own, because Vitest empties it.
    projects: [
      {
        define: { __FAILPOINTS__: 'false' },
        test: {
          name: 'unit',
          isolate,
          include: [`${rooms}/src/**/*.test.ts`],
          testTimeout: 60_000, // properties over a million cases, on a machine that does other things too
        },
      },
      {
        define: { __FAILPOINTS__: 'false' },
        test: {
          name: 'integration',
          isolate,
          include: [`${rooms}/test/**/*.test.ts`, 'e2e/**/*.test.ts'],
          globalSetup: './vitest.global-setup.ts',
          // A machine that does other things too may need ten times as long as an idle one.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
