import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** Ends the output of a run with one machine-readable line. */
export class PlainLineReporter implements Reporter {
  private line = 'tests: 0 passed, 1 failed, 0 skipped'

  // At the end, after the other reporters and the global teardown.
  onInit(): void {
    process.once('exit', () => process.stdout.write(`${this.line}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      // Tests below a failed hook or import are skipped or unknown, so its own error must count.
      counts.failed += module.errors().length
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
    }
    // A failed global setup ends the run before any test.
    if (reason !== 'passed') counts.failed ||= 1
    this.line = `tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped`
  }
}
