import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LaneReporter } from './packages/test-support/src/lane-reporter.ts'
import { LongestFirst } from './packages/test-support/src/longest-first.ts'

const folders = '{prisma,packages/*,services/*,programs/*,bench,e2e,examples}'

const isFull = process.env.PROPERTY_RUNS === 'full'

/** The lanes of tests, cheapest first. CONTRIBUTING.md says which test belongs where. */
const lanes = {
  unit: {
    files: '*.test.{ts,tsx}',
    without: '*.{sql,service,e2e}.test.ts',
    testTimeout: isFull ? 120_000 : 20_000,
    cpuBudget: 30,
  },
  sql: { files: '*.sql.test.ts', testTimeout: 60_000, cpuBudget: 40 },
  service: { files: '*.service.test.ts', testTimeout: 60_000, cpuBudget: 200 },
  e2e: { files: '*.e2e.test.ts', testTimeout: 60_000, cpuBudget: 250 },
  long: { files: '*.long.ts', testTimeout: 15 * 60_000, cpuBudget: null },
  // Measures real time, so one file runs at a time, after all others.
  timing: { files: '*.timing.ts', testTimeout: 15 * 60_000, cpuBudget: null },
}

// Above what the lane takes, by the room that new tests need for a while. The reporter makes up for a slower machine.
const budgets = Object.fromEntries(
  Object.entries(lanes).map(([name, { cpuBudget }]) => [name, isFull ? null : cpuBudget]),
)

export default defineConfig({
  test: {
    globalSetup: './vitest.global-setup.ts',
    reporters: ['default', new LaneReporter(budgets)],
    // Includes the time to stop the servers of the global setup.
    teardownTimeout: 30_000,
    sequence: { sequencer: LongestFirst },
    // The lanes, and the next run, share transformed modules.
    experimental: { fsModuleCache: true },
    projects: Object.entries(lanes).map(([name, lane]) => toProject(name, lane)),
  },
})

function toProject(
  name: string,
  lane: { files: string; without?: string; testTimeout: number },
): TestProjectInlineConfiguration {
  const { groupOrder, maxWorkers } = groupOf(name)
  return {
    // The values of a production build. Each project needs its own object, because Vitest empties it.
    define: { __FAILPOINTS__: 'false', __VIRTUAL_CLOCK__: 'false' },
    test: {
      name,
      include: [`${folders}/**/${lane.files}`],
      exclude: ['**/node_modules/**', '**/dist/**', ...(lane.without ? [`**/${lane.without}`] : [])],
      // A process runs files sequentially, and loads shared modules once.
      isolate: false,
      setupFiles: './packages/test-support/src/measure-cpu.ts',
      testTimeout: lane.testTimeout,
      hookTimeout: 120_000,
      // As of `waitFor`: a condition may take seconds on a busy machine. Vitest's default is 1 s.
      expect: { poll: { timeout: 15_000 } },
      sequence: { groupOrder },
      maxWorkers,
    },
  }
}

// Each worker loads the modules of its lane: 1.5 CPU seconds for unit tests, and some 15 where it also starts a browser and an
// installation.
function groupOf(name: string): { groupOrder: number; maxWorkers: number } {
  if (name === 'unit') return { groupOrder: 0, maxWorkers: availableParallelism() }
  if (name === 'timing') return { groupOrder: 2, maxWorkers: 1 }
  // These wait much of their time: for due times, retries, and processes that start.
  return { groupOrder: 1, maxWorkers: Math.ceil(2.5 * availableParallelism()) }
}
