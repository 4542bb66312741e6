import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { useStage } from './stage.ts'

const project = join(repositoryRoot(), 'e2e/qstash/clients/rust')
const hasCargo = spawnSync('cargo', ['--version']).status === 0

describe.skipIf(!hasCargo)('the Rust client of QStash, which requires Cargo', () => {
  const stage = useStage()

  it('works unchanged', async () => {
    stage.target.answer('/dead', { status: 500 })
    await stage.client.publish({ url: stage.target.url('/signed'), body: 'signed ü' })
    const [signed] = await stage.received('/signed')
    const env = {
      ...process.env,
      CARGO_TARGET_DIR: process.env.CARGO_TARGET_DIR ?? join(repositoryRoot(), 'e2e/dist/rust'),
      QSTASH_URL: stage.belfry.url,
      QSTASH_TOKEN: String(stage.belfry.caller.apiKey),
      TARGET: stage.target.url('').replace(/\/$/, ''),
      SIGNATURE: signed?.headers['upstash-signature'],
    }
    const run = promisify(execFile)('cargo', ['run', '--quiet', '--locked'], {
      cwd: project,
      env,
      maxBuffer: 16 * 1024 * 1024,
    })
    expect((await run).stdout).toContain('all methods of the Rust client')
  })
})
