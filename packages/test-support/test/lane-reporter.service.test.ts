import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const repository = join(import.meta.dirname, '../../..')
const source = (name: string) => JSON.stringify(join(repository, 'packages/test-support/src', name))

type Options = { budget?: number; args?: string[]; top?: string }

/** Runs Vitest with the reporter and the sequencer on test files of a lane, and returns the exit code and the lines of the output. */
async function run(files: Record<string, string>, { budget = 100, args = [], top = '' }: Options = {}) {
  const parent = join(repository, 'node_modules/.cache')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'lane-reporter-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = `import { LaneReporter } from ${source('lane-reporter.ts')}
    import { LongestFirst } from ${source('longest-first.ts')}
    const test = { name: 'unit', include: ['*.test.mjs'], setupFiles: ${source('measure-cpu.ts')} }
    export default { test: {
      reporters: [new LaneReporter({ unit: ${budget} })], sequence: { sequencer: LongestFirst }, fileParallelism: false,
      projects: [{ test }], ${top}
    } }`
  writeFileSync(join(folder, 'vitest.config.mjs'), config)
  const start = "import { beforeAll, describe, expect, it } from 'vitest'\n"
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.mjs`), start + body)
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  const env = { PATH: process.env.PATH, NO_COLOR: '1' }
  return new Promise<{ code: number; lines: string[] }>(resolve => {
    execFile(process.execPath, [vitest, 'run', ...args], { env, cwd: folder }, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), lines: stdout.trim().split('\n') })
    })
  })
}

const passing = "it('passes', () => {}); it.skip('is skipped', () => {})"

describe('the report of a run', () => {
  it('ends with the counts, and shows lanes, expensive files and skipped tests', async () => {
    const { code, lines } = await run({ passing, second: "it('passes', () => {})" })
    expect([code, lines.at(-1)]).toEqual([0, 'tests: 2 passed, 0 failed, 1 skipped'])
    expect(lines.find(line => line.startsWith('  unit '))).toMatch(
      /^ {2}unit +\d+\.\d of \d+\.\d \(2 files, 3 tests\)$/,
    )
    expect(lines.filter(line => /^ +\d+\.\d (passing|second)\.test\.mjs$/.test(line))).toHaveLength(2)
    expect(lines).toContain('  passing.test.mjs > is skipped')
  })

  it.runIf(process.platform === 'linux')('measures the budget by the speed of the machine', async () => {
    const { lines } = await run({ passing }, { budget: 100 })
    const slowness = Number(
      /takes (\d+\.\d\d) times/.exec(lines.find(line => line.startsWith('CPU seconds')) ?? '')?.[1],
    )
    const allowed = Number(/ of (\d+\.\d) /.exec(lines.find(line => line.startsWith('  unit ')) ?? '')?.[1])
    expect(slowness).toBeGreaterThan(0.1)
    expect(Math.abs(allowed - 100 * slowness)).toBeLessThan(1)
  })

  it('counts as one failure each: a test, a hook, an import, and an error that belongs to no test', async () => {
    const { code, lines } = await run({
      passing,
      test: "it('fails', () => { expect(1).toBe(2) })",
      hook: "describe('a', () => { beforeAll(() => { throw new Error('hook') }); it('b', () => {}) })",
      import: "import './missing.mjs'",
      stray: "it('a', async () => { Promise.reject(new Error('stray')); await new Promise(r => setTimeout(r, 50)) })",
    })
    expect([code, lines.at(-1)]).toEqual([1, 'tests: 2 passed, 4 failed, 2 skipped'])
    const failed = lines.slice(-5, -1).map(line => line.replace(/(import\.test\.mjs > : ).*/, '$1...'))
    expect(failed.sort()).toEqual([
      'failed: hook.test.mjs > a: hook',
      'failed: import.test.mjs > : ...',
      'failed: outside of a test: stray',
      'failed: test.test.mjs > fails: expected 1 to be 2 // Object.is equality',
    ])
  })

  it('counts a failed global setup', async () => {
    const { code, lines } = await run({ passing }, { top: "globalSetup: './missing.mjs'" })
    expect([code, lines.at(-1)]).toEqual([1, 'tests: 0 passed, 1 failed, 0 skipped'])
  })

  it.runIf(process.platform === 'linux')('fails a run whose lane exceeds its budget of CPU seconds', async () => {
    const busy = "it('works', () => { const until = Date.now() + 200; while (Date.now() < until); })"
    const { code, lines } = await run({ busy }, { budget: 0.01 })
    expect([code, lines.at(-1)]).toEqual([1, 'tests: 1 passed, 1 failed, 0 skipped'])
    expect(lines.find(line => line.startsWith('  unit '))).toMatch(/ of 0\.0: OVER BUDGET/)
  })
})

it('--sequence.shuffle shuffles the files too, by its seed', async () => {
  const files = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map(name => [name, `it('${name}', () => {})`]))
  const { lines } = await run(files, { args: ['--sequence.shuffle', '--sequence.seed=1', '--reporter=verbose'] })
  expect(lines.flatMap(line => /([a-e])\.test\.mjs > /.exec(line)?.[1] ?? []).join('')).toBe('aebdc')
})
