import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askToStop, keepService, restartPauseMs } from './keep-service.ts'

test.each([false, true])(
  'doubles from half a second to half a minute while a service keeps ending, orderly: %s',
  isOrderly => {
    const pauses: number[] = []
    for (let pause = 0; pauses.length < 9; pauses.push(pause)) pause = restartPauseMs(pause, 10, isOrderly)
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  },
)

test('starts again after a minute of work', () => {
  expect(restartPauseMs(30_000, 60_000, false)).toBe(500)
  expect(restartPauseMs(30_000, 59_999, false)).toBe(30_000)
})

test('starts again after an orderly end, unless the service ran for less than two seconds', () => {
  expect(restartPauseMs(30_000, 2_000, true)).toBe(500)
  expect(restartPauseMs(30_000, 1_999, true)).toBe(30_000)
})

test('restarts again after a restart that could not be recorded', async () => {
  const program = join(mkdtempSync(join(tmpdir(), 'service-')), 'program.mjs')
  writeFileSync(program, "process.send('ready', () => process.disconnect())")
  const pids: number[] = []
  const onProcess = (pid: number) => {
    if (pids.push(pid) === 2) throw new Error('no space left on device')
  }
  const service = keepService({ program, env: process.env, logFile: null, onProcess })
  await service.ready
  await expect.poll(() => pids.length, { timeout: 20_000 }).toBeGreaterThan(2)
  await service.stop()
})

test('asks for an orderly stop by the end of the channel where there is no SIGTERM', async () => {
  const program = join(mkdtempSync(join(tmpdir(), 'service-')), 'program.mjs')
  // As every service does.
  writeFileSync(program, "process.once('disconnect', () => process.exit(7)); process.send('ready')")
  const service = fork(program)
  await once(service, 'message')
  askToStop(service, 'win32')
  expect(await once(service, 'exit')).toEqual([7, null])
})
