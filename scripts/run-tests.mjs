import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const maxFilesAgain = 5

/**
 * Runs Vitest in a folder and returns its exit code. Without arguments it runs all tests, and then up to five files that failed
 * once more, one after the other: many tests measure real time, for which a busy machine can be too slow while other tests run.
 * The output names these files. The last run's plain line counts each test once.
 */
export async function runTests(args, folder = repository) {
  if (args.length > 0) return runVitest(folder, args)
  const temporary = mkdtempSync(join(tmpdir(), 'belfry-test-report-'))
  try {
    const report = join(temporary, 'report.json')
    const code = await runVitest(folder, [], { TEST_REPORT: report })
    return code === 0 ? 0 : await runFailedAgain(folder, readReport(report), code)
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

async function runFailedAgain(folder, { others, failedFiles }, code) {
  if (failedFiles.length === 0 || failedFiles.length > maxFilesAgain) return code
  console.log(
    `\nFailed beside other tests, so run again alone: ${failedFiles.map(file => relative(folder, file)).join(', ')}`,
  )
  return runVitest(folder, ['--maxWorkers=1', ...failedFiles], { TEST_COUNTS: JSON.stringify(others) })
}

// There is none when the run was interrupted, or had an error outside of the tests.
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { failedFiles: [] }
  }
}

async function runVitest(folder, args, more = {}) {
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  const options = { cwd: folder, stdio: 'inherit', env: { ...process.env, ...more } }
  const child = spawn(process.execPath, [vitest, 'run', ...args], options)
  // Ctrl-C reaches Vitest directly; a second signal would interrupt its clean-up.
  const ignore = () => {}
  const pass = () => child.kill('SIGTERM')
  process.on('SIGINT', ignore).on('SIGTERM', pass)
  const [code] = await once(child, 'exit')
  process.off('SIGINT', ignore).off('SIGTERM', pass)
  return code ?? 1
}
