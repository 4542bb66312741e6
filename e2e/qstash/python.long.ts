import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { hasPython, useVenv } from '../python.ts'
import { repositoryRoot } from '../repository-root.ts'
import { useStage } from './stage.ts'

const version = '3.4.0'

describe.skipIf(!hasPython)('the Python client of QStash, which requires Python 3.10 with venv', () => {
  const stage = useStage()
  const venv = useVenv()
  beforeAll(async () => {
    await venv.pip(['install', `qstash==${version}`])
  }, 180_000)

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
    const output = await venv.run('python', [join(repositoryRoot(), 'e2e/qstash/clients/qstash_python.py')], { env })
    expect(output).toContain('all methods of the Python client')
    const [request] = await stage.received('/python')
    expect(request?.body).toEqual(Buffer.from([0, 255]))
  }, 120_000)
})
