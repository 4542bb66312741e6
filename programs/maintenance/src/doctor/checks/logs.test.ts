import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkLogs } from './data-folder.ts'

it('counts the errors of the last day, and no refused clients of PostgreSQL', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-logs-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  expect(await checkLogs(folder)).toMatchObject([{ level: 'ok' }])
  const now = new Date().toISOString()
  const own = (level: number, time: string, msg: string) => JSON.stringify({ level, time, service: 'api', msg })
  const postgres = (at: string, text: string) => `${at.replace('T', ' ').replace('Z', ' UTC')} [7] ${text}`
  const old = '2026-01-01T00:00:00.000Z'
  await mkdir(join(folder, 'logs'))
  await writeFile(
    join(folder, 'logs/belfry.log'),
    [own(50, now, 'a'), own(50, now, 'a'), own(60, now, 'b'), own(40, now, 'c'), own(50, old, 'd'), '  at e'].join(
      '\n',
    ),
  )
  await writeFile(
    join(folder, 'logs/postgres.log'),
    [
      postgres(now, 'PANIC:  could not write: No space left'),
      postgres(now, 'FATAL:  password authentication failed'),
      postgres(now, 'LOG:  ready'),
      postgres(old, 'FATAL:  out of memory'),
      'FATAL:  without a time',
    ].join('\n'),
  )
  expect((await checkLogs(folder)).map(({ message }) => message)).toEqual([
    '2 times in the log of the last day: api: a',
    '1 times in the log of the last day: api: b',
    '1 times in the log of the last day: postgres: PANIC: could not write: No space left',
  ])
})
