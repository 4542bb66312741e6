import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'
import { readProc } from './proc.ts'
import { usualReferenceWorkMs } from './reference-work.ts'

type Counts = { passed: number; failed: number; skipped: number }

/** The CPU seconds that the files of each lane may use together, on a machine of the usual speed; null for no limit. */
export type CpuBudgets = Readonly<Record<string, number | null>>

/**
 * Prints what each lane cost in CPU seconds, the most expensive files, the skipped and the failed tests, and then one
 * machine-readable line. Fails the run when a lane exceeds its budget. CPU time is measured on Linux; it is 0 elsewhere.
 *
 * `TEST_CPU` names a file that receives one line for each test file: its lane, CPU seconds and counts.
 */
export class LaneReporter implements Reporter {
  private lines = ['tests: 0 passed, 1 failed, 0 skipped']

  private readonly budgets: CpuBudgets
  private readonly before = machineCpuSeconds()

  constructor(budgets: CpuBudgets) {
    this.budgets = budgets
  }

  // At the end, after the other reporters and the global teardown.
  onInit(): void {
    process.once('exit', () => process.stdout.write(`${this.lines.join('\n')}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    const overBudget = this.reportCpu(modules)
    reportSkipped(modules)
    const all = addCounts(modules.map(countsOf))
    all.failed += unhandledErrors.length + overBudget
    // A failed global setup ends the run before any test.
    if (reason !== 'passed') all.failed ||= 1
    if (all.failed > 0) process.exitCode = 1
    this.lines = [
      ...modules.flatMap(failuresOf),
      ...unhandledErrors.map(error => `failed: outside of a test: ${firstLine(error)}`),
      `tests: ${all.passed} passed, ${all.failed} failed, ${all.skipped} skipped`,
    ]
  }

  /** Returns the number of lanes that exceed their budget. */
  private reportCpu(modules: readonly TestModule[]): number {
    const costs = modules.map(module => ({ module, lane: module.project.name, cpu: module.meta().cpuSeconds ?? 0 }))
    costs.sort((a, b) => b.cpu - a.cpu)
    const slowness = slownessOf(modules)
    let overBudget = 0
    console.log(`\nCPU seconds of each lane, on a machine that takes ${slowness.toFixed(2)} times the usual CPU time:`)
    for (const [lane, budget] of Object.entries(this.budgets)) {
      const files = costs.filter(cost => cost.lane === lane)
      if (files.length === 0) continue
      const { passed, failed, skipped } = addCounts(files.map(({ module }) => countsOf(module)))
      const cpu = files.reduce((sum, file) => sum + file.cpu, 0)
      const allowed = budget === null ? Number.POSITIVE_INFINITY : budget * slowness
      const isOver = cpu > allowed
      if (isOver) overBudget++
      const limit = budget === null ? '' : ` of ${allowed.toFixed(1)}${isOver ? ': OVER BUDGET' : ''}`
      const counts = `${files.length} files, ${passed + failed + skipped} tests`
      console.log(`  ${lane.padEnd(8)} ${cpu.toFixed(1).padStart(7)}${limit} (${counts})`)
    }
    console.log(
      `  machine  ${(machineCpuSeconds() - this.before).toFixed(1).padStart(7)}, with all other programs on it`,
    )
    console.log('Most expensive files:')
    for (const { module, cpu } of costs.slice(0, 10)) console.log(`  ${cpu.toFixed(1).padStart(7)} ${fileOf(module)}`)
    const table = process.env.TEST_CPU
    if (table) writeFileSync(table, costs.map(({ module, lane, cpu }) => row(module, lane, cpu)).join(''))
    return overBudget
  }
}

function slownessOf(modules: readonly TestModule[]): number {
  const measured = modules.flatMap(module => module.meta().referenceWorkMs ?? []).sort((a, b) => a - b)
  return (measured[measured.length >> 1] ?? usualReferenceWorkMs) / usualReferenceWorkMs
}

// Without idle time and waits for disks. Processes that outlive their parents count here only.
function machineCpuSeconds(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = readProc('stat').split(/\s+/, 8).map(Number)
  return (user + nice + system + irq + softirq) / 100
}

function row(module: TestModule, lane: string, cpu: number): string {
  const { passed, failed, skipped } = countsOf(module)
  const wall = module.diagnostic().duration / 1000
  return `${[lane, cpu.toFixed(2), wall.toFixed(2), passed, failed, skipped, fileOf(module)].join('\t')}\n`
}

function reportSkipped(modules: readonly TestModule[]): void {
  const skipped = modules.flatMap(module => [...module.children.allTests('skipped')])
  if (skipped.length > 0) console.log('Skipped:')
  for (const test of skipped) console.log(`  ${fileOf(test.module)} > ${test.fullName}`)
}

/** One line for each failure, because CI may show only the end of a log. */
function failuresOf(module: TestModule): string[] {
  const suites = [module, ...module.children.allSuites()]
  const tests = [...module.children.allTests('failed')]
  return [
    ...suites.flatMap(suite =>
      suite.errors().map(error => ({ name: 'fullName' in suite ? suite.fullName : '', error })),
    ),
    ...tests.map(test => ({ name: test.fullName, error: test.result().errors?.[0] })),
  ].map(({ name, error }) => `failed: ${fileOf(module)} > ${name}: ${firstLine(error)}`)
}

function firstLine(error: unknown): string {
  const message = error instanceof Object && 'message' in error ? String(error.message) : String(error)
  return (message.split('\n', 1)[0] ?? '').slice(0, 200)
}

function fileOf(module: TestModule): string {
  return relative(module.project.vitest.config.root, module.moduleId)
}

function countsOf(module: TestModule): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  for (const test of module.children.allTests()) counts[test.result().state]++
  // Tests below a failed hook or import are skipped or unknown, so its own error must count.
  counts.failed += module.errors().length
  for (const suite of module.children.allSuites()) counts.failed += suite.errors().length
  return { passed: counts.passed, failed: counts.failed, skipped: counts.skipped + counts.pending }
}

function addCounts(list: readonly Counts[]): Counts {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const counts of list) for (const name of ['passed', 'failed', 'skipped'] as const) sum[name] += counts[name]
  return sum
}
