import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { createLogger, withoutRedaction } from './logger.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  folders.push(folder)
  const file = join(folder, 'log')
  const log = createLogger('api', 'info', openSync(file, 'w'))
  const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return { log, lines, events: () => lines().map(line => JSON.parse(line)) }
}

it('writes a line for each event, in order, without being asked to', async () => {
  const { log, events } = setup()
  for (let i = 0; i < 500; i++) log.info({ i, text: 'ü\n"' }, 'event')
  await vi.waitFor(() => expect(events()).toHaveLength(500), 10_000)
  expect(events().map(({ i }) => i)).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(events()[0]).toMatchObject({ service: 'api', level: 30, text: 'ü\n"', msg: 'event' })
})

it.each(['warn', 'error', 'fatal'] as const)('writes what it holds at once with a line of level %s', level => {
  const { log, events } = setup()
  log.info('before')
  log[level]('what somebody wants to know')
  log.info('after')
  expect(events().map(({ msg }) => msg)).toEqual(['before', 'what somebody wants to know'])
})

it('hides credentials, but for lines that are known to have none', async () => {
  const { log, events } = setup()
  log.info({ token: 'a', request: { authorization: 'b' } }, 'hidden')
  withoutRedaction(log).info({ token: 'c', task: 'd' }, 'plain')
  await vi.waitFor(() => expect(events()).toHaveLength(2), 10_000)
  expect(events()).toMatchObject([
    { token: '[redacted]', request: { authorization: '[redacted]' } },
    { service: 'api', token: 'c', task: 'd' },
  ])
})
