import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const repository = join(import.meta.dirname, '../../..')

/** Runs test files in a folder of their own, as `npm test` does, and returns the exit code and the lines of the output. */
async function run(files: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const folder = mkdtempSync(join(repository, 'node_modules/.cache/run-tests-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const reporter = join(repository, 'packages/test-support/src/plain-line-reporter.ts')
  const config = `import { PlainLineReporter } from '${reporter}'
    export default { test: { reporters: [new PlainLineReporter()] } }`
  writeFileSync(join(folder, 'vitest.config.mjs'), config)
  const start = "import { existsSync, writeFileSync } from 'node:fs'; import { expect, it } from 'vitest';"
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.mjs`), start + body)
  const program = `import { runTests } from '${join(repository, 'scripts/run-tests.mjs')}'
    process.exitCode = await runTests([], '${folder}')`
  return new Promise(resolve => {
    const env = { PATH: process.env.PATH, NO_COLOR: '1' }
    execFile(process.execPath, ['--input-type=module', '-e', program], { env, cwd: folder }, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), lines: stdout.trim().split('\n') })
    })
  })
}

const passing = "it('passes', () => {}); it.skip('is skipped', () => {})"
// Fails the first time.
const failingOnce = `it('passes', () => {})
  it('fails', () => { const was = existsSync('was-here'); writeFileSync('was-here', ''); expect(was).toBe(true) })`

it('runs files that failed once more, names them, and counts each test once', async () => {
  const { code, lines } = await run({ passing, failingOnce })
  expect([code, lines.at(-1)]).toEqual([0, 'tests: 3 passed, 0 failed, 1 skipped'])
  expect(lines).toContain('Failed beside other tests, so run again alone: failingOnce.test.mjs')
  expect(lines).toContain('tests: 2 passed, 1 failed, 1 skipped')
})

it('fails when a file fails again, when more than five failed, and when an error belongs to no file', async () => {
  const failing = "it('fails', () => { expect(1).toBe(2) })"
  const six = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`failing${i}`, failing]))
  const stray =
    "it('leaves an error', async () => { Promise.reject(new Error('stray')); await new Promise(r => setTimeout(r, 50)) })"
  const results = await Promise.all([run({ passing, failing }), run({ passing, ...six }), run({ passing, stray })])
  expect(results.map(({ code, lines }) => [code, lines.at(-1)])).toEqual([
    [1, 'tests: 1 passed, 1 failed, 1 skipped'],
    [1, 'tests: 1 passed, 6 failed, 1 skipped'],
    [1, 'tests: 2 passed, 1 failed, 1 skipped'],
  ])
  const runs = results.map(({ lines }) => lines.filter(line => line.startsWith('tests: ')).length)
  expect(runs).toEqual([2, 1, 1])
})
