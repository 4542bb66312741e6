import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { useStage } from './stage.ts'

const run = promisify(execFile)
const version = '3.4.0'

// On Debian the module venv needs the package python3-venv.
const python = ['python3', 'python'].find(
  name => spawnSync(name, ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))']).status === 0,
)

describe.skipIf(python === undefined)('the Python client of QStash, which requires Python with venv', () => {
  const stage = useStage()
  let folder: string
  const inVenv = (program: string) => join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', program)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-qstash-'))
    await run(python ?? '', ['-m', 'venv', folder])
    await run(inVenv('python'), [
      '-m',
      'pip',
      '--quiet',
      '--disable-pip-version-check',
      'install',
      `qstash==${version}`,
    ])
  }, 180_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('works unchanged, each of its methods', async () => {
    stage.target.answer('/dead', { status: 500 })
    await stage.client.publish({ url: stage.target.url('/signed'), body: 'signed ü' })
    const [signed] = await stage.received('/signed')
    const env = {
      ...process.env,
      QSTASH_URL: stage.belfry.url,
      QSTASH_TOKEN: String(stage.belfry.caller.apiKey),
      TARGET: stage.target.url('').replace(/\/$/, ''),
      SIGNATURE: signed?.headers['upstash-signature'],
    }
    const program = join(repositoryRoot(), 'e2e/qstash/clients/qstash_python.py')
    const { stdout } = await run(inVenv('python'), [program], { env })
    expect(stdout).toContain('all methods of the Python client')
    const [request] = await stage.received('/python')
    expect(request?.body).toEqual(Buffer.from([0, 255]))
  }, 120_000)
})
