import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '@belfry/test-support/servers'
import { expect, it, onTestFinished } from 'vitest'
import type { RunningService } from '../processes.ts'
import type { Fixture } from './fixture/fixture.ts'
import type { Template } from './fixture/template.ts'
import { createWaits } from './fixture/waits.ts'
import type { Row } from './row.ts'
import { runRow } from './run-row.ts'

const template = {} as Template // no fixture is opened from it

async function startService(): Promise<RunningService> {
  const script = `console.log('its output'); setInterval(() => {}, 1000)`
  const service = Object.assign(startProcess([process.execPath, '-e', script]), { name: 'api' as const })
  await service.prints('its output')
  return service
}

function fakeFixture(process: RunningService) {
  const waits = createWaits()
  const service = waits.track(process, `api ${process.pid}`)
  const parts: Partial<Fixture> = {
    services: [service],
    failures: ['a demand that failed'],
    notes: [],
    waits: waits.list,
    sql: async () => [],
    close: async () => void (await process.stop('SIGKILL')),
  }
  return waits.track(parts as Fixture, 'fixture') // as much of it as the rows below use
}

async function run(process: RunningService, row: Pick<Row, 'run'>, limitMs: number) {
  const logs = await mkdtemp(join(tmpdir(), 'belfry-row-'))
  onTestFinished(() => rm(logs, { recursive: true, force: true }))
  const whole: Row = { id: 'F99', fault: 'none', moment: 'none', expected: 'none', ...row }
  const result = await runRow(whole, template, { seed: 1, limitMs, logs }, async () => fakeFixture(process))
  return { ...result, log: await readFile(join(logs, 'F99.log'), 'utf8') }
}

it('fails a row that hangs, names the row and what it waited for, and kills its processes', async () => {
  const process = await startService()
  const { status, complaints, log } = await run(
    process,
    {
      async run({ services: [service], sql }) {
        await sql('SELECT 1')
        await service?.ended // its failpoint is never reached
        return {}
      },
    },
    200,
  )
  expect(status).toBe('FAILED')
  expect(complaints).toEqual([
    'a demand that failed',
    expect.stringMatching(/Not within 0\.2 s: row F99\. It waited for api \d+\.ended for \d+\.\d s\./),
  ])
  expect(log).toContain('its output')
  expect(await process.ended).toBe('SIGKILL')
  expect(process.isRunning()).toBe(false)
})

it('says so when a row that hangs waits for no call of the fixture', async () => {
  const { complaints } = await run(await startService(), { run: () => new Promise(() => {}) }, 50)
  expect(complaints[1]).toContain('row F99. It waited for no call of the fixture.')
})

it('fails a row that rejects, and kills its processes', async () => {
  const process = await startService()
  const rejecting = { run: () => Promise.reject(new Error('Not within 60 s: the api to be killed by its failpoint.')) }
  const { status, complaints } = await run(process, rejecting, 60_000)
  expect(status).toBe('FAILED')
  expect(complaints[1]).toContain('the api to be killed by its failpoint')
  expect(await process.ended).toBe('SIGKILL')
})
