import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningProcess } from '@belfry/test-support/servers'
import { expect, test, vi } from 'vitest'
import { newDataDir, runLauncher } from './run-launcher.ts'

type Row = { id: string; name: string; status: string; state: string; attempts: number; source: string }

test('shows every kind of call of a shop in a workspace of its own, also after a restart', async () => {
  const dataDir = newDataDir()
  const first = runLauncher(dataDir, { DEMO: 'on' })
  await first.prints(/Ctrl-C stops everything/)
  const key = keyOf(dataDir)
  const list = (path: string) => read(first, key, path)
  await vi.waitFor(
    async () => {
      const tasks = await list('/tasks?limit=100')
      expect(new Set(tasks.map(({ source }) => source))).toEqual(new Set(['event', 'task', 'cron']))
      expect(tasks.some(({ state, attempts }) => state === 'success' && attempts > 1)).toBe(true)
      expect(tasks.some(({ name, state }) => name?.startsWith('Invoice') && state === 'success')).toBe(true)
      expect(await list('/dead-letters')).not.toEqual([])
      expect((await list('/runs?status=failed')).length).toBeGreaterThan(1)
    },
    { timeout: 40_000, interval: 500 },
  )
  expect((await list('/queues')).map(({ name }) => name)).toEqual(['invoices'])
  expect((await list('/cronjobs')).map(({ status }) => status)).toEqual(Array(4).fill('active'))
  // The first workspace is the user's.
  expect(await read(first, String(/API key +(\S+)/.exec(first.output)?.[1]), '/tasks')).toEqual([])
  expect(await first.stop()).toBe(0)

  const second = runLauncher(dataDir)
  await second.prints(/Ctrl-C stops everything/)
  expect((await read(second, key, '/cronjobs')).map(({ status }) => status)).toEqual(Array(4).fill('paused'))
  expect(await second.stop()).toBe(0)

  const third = runLauncher(dataDir, { DEMO: 'on' })
  await third.prints(/Ctrl-C stops everything/)
  expect(keyOf(dataDir)).toBe(key)
  expect((await read(third, key, '/cronjobs')).map(({ status }) => status)).toEqual(Array(4).fill('active'))
}, 120_000)

function keyOf(dataDir: string): string {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')).apiKey
}

async function read({ output }: RunningProcess, key: string, path: string): Promise<Row[]> {
  const [url] = /http:\/\/localhost:\d+/.exec(output) ?? []
  const response = await fetch(`${url}/api/v1/scheduler${path}`, { headers: { 'x-api-key': key } })
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: Row[] }).data
}
