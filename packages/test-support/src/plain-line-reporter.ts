import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

type Counts = { passed: number; failed: number; skipped: number }

/** What `npm test` reads to decide about a second run. */
export type RunReport = {
  /** The counts of all files but the failed ones. */
  others: Counts
  failedFiles: string[]
}

/**
 * Ends the output of a run with one machine-readable line. Writes a `RunReport` to the file of `TEST_REPORT`, and adds the
 * counts of `TEST_COUNTS`, those of a run before.
 */
export class PlainLineReporter implements Reporter {
  private line = 'tests: 0 passed, 1 failed, 0 skipped'

  // At the end, after the other reporters and the global teardown.
  onInit(): void {
    process.once('exit', () => process.stdout.write(`${this.line}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    const failed = modules.filter(module => module.state() === 'failed')
    const others = addCounts(modules.filter(module => !failed.includes(module)).map(countsOf))
    const all = addCounts([others, ...failed.map(countsOf), JSON.parse(process.env.TEST_COUNTS ?? '{}')])
    all.failed += unhandledErrors.length
    // A failed global setup ends the run before any test.
    if (reason !== 'passed') all.failed ||= 1
    this.line = `tests: ${all.passed} passed, ${all.failed} failed, ${all.skipped} skipped`
    const file = process.env.TEST_REPORT
    // An error outside of the tests belongs to no file, so running the files again would hide it.
    const report: RunReport = { others, failedFiles: failed.map(({ moduleId }) => moduleId) }
    if (file && reason !== 'interrupted' && unhandledErrors.length === 0) writeFileSync(file, JSON.stringify(report))
  }
}

function countsOf(module: TestModule): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  for (const test of module.children.allTests()) counts[test.result().state]++
  // Tests below a failed hook or import are skipped or unknown, so its own error must count.
  counts.failed += module.errors().length
  for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
  return { passed: counts.passed, failed: counts.failed, skipped: counts.skipped + counts.pending }
}

function addCounts(list: readonly Partial<Counts>[]): Counts {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const name of ['passed', 'failed', 'skipped'] as const) {
    for (const counts of list) sum[name] += counts[name] ?? 0
  }
  return sum
}
