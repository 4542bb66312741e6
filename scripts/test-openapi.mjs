// `npm run test:openapi`: runs Schemathesis against Belfry; see e2e/openapi. It is skipped without Python.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const python = ['python3', 'python'].find(name => isNewEnough(name))

if (python === undefined)
  console.log('Skipped: the test of the OpenAPI document requires Python 3.10 or newer with venv.')
else process.exitCode = testWith(python)

// On Debian the module venv needs the package python3-venv.
function isNewEnough(name) {
  const check = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))'
  return spawnSync(name, ['-c', check], { stdio: 'ignore' }).status === 0
}

function testWith(python) {
  bootstrap()
  const folder = mkdtempSync(join(tmpdir(), 'belfry-openapi-'))
  try {
    console.log('Installing Schemathesis ...')
    const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin')
    const requirements = join(root, 'e2e/openapi/requirements.txt')
    const isInstalled =
      run(python, ['-m', 'venv', folder]) === 0 &&
      run(join(bin, 'python'), [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '-r',
        requirements,
      ]) === 0
    if (!isInstalled) return 1
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const env = { ...process.env, SCHEMATHESIS: join(bin, 'schemathesis') }
    return run(process.execPath, [vitest, 'run', '--config', 'e2e/openapi/vitest.config.ts'], { env })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(program, args, options = {}) {
  return spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options }).status ?? 1
}
