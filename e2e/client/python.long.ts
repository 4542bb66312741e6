import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBelfry } from '../belfry.ts'
import { repositoryRoot } from '../repository-root.ts'

const project = join(repositoryRoot(), 'clients/python')

async function run(program: string, args: string[], options = {}): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { maxBuffer: 16 * 1024 * 1024, ...options })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

// On Debian the module venv needs the package python3-venv.
const python = ['python3', 'python'].find(
  name => spawnSync(name, ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))']).status === 0,
)

describe.skipIf(python === undefined)('the Python client, which requires Python 3.10 with venv', () => {
  let folder: string
  const inVenv = (program: string) => join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', program)
  const options = { cwd: project }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-python-'))
    const pip = ['-m', 'pip', '--quiet', '--disable-pip-version-check']
    await run(python ?? '', ['-m', 'venv', folder])
    await run(inVenv('python'), [...pip, 'wheel', '--no-deps', '--wheel-dir', join(folder, 'wheels'), '.'], options)
    const [wheel = ''] = await readdir(join(folder, 'wheels'))
    await run(inVenv('python'), [...pip, 'install', `${join(folder, 'wheels', wheel)}[test]`], options)
  }, 180_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('is typed, and its synchronous half is up to date', async () => {
    await run(inVenv('python'), ['scripts/generate_sync.py', '--check'], options)
    const mypy = await run(inVenv('mypy'), ['--cache-dir', join(folder, 'mypy')], options)
    expect(mypy).toContain('Success')
  })

  it('passes its tests against a running Belfry, installed from its wheel', async () => {
    const belfry = await startBelfry('postgres', { services: ['all-in-one'] })
    try {
      const env = { ...process.env, BELFRY_URL: belfry.url, BELFRY_API_KEY: belfry.caller.apiKey ?? '' }
      const report = await run(inVenv('pytest'), ['-q', '-p', 'no:cacheprovider'], { ...options, env })
      expect(report).toMatch(/^\d+ passed in/m)
    } finally {
      await belfry.close()
    }
  }, 180_000)
})
