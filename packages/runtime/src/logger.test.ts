import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { openLog, withoutRedaction } from './logger.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  folders.push(folder)
  const file = join(folder, 'log')
  const loggerOf = openLog('info', openSync(file, 'w'))
  const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return { log: loggerOf('api'), loggerOf, events: () => lines().map(line => JSON.parse(line)) }
}

it('writes a line for each event, in order, without an explicit flush', async () => {
  const { log, events } = setup()
  for (let i = 0; i < 500; i++) log.info({ i, text: 'ü\n"' }, 'event')
  await vi.waitFor(() => expect(events()).toHaveLength(500), 10_000)
  expect(events().map(({ i }) => i)).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(events()[0]).toMatchObject({ service: 'api', level: 30, text: 'ü\n"', msg: 'event' })
})

it.each(['warn', 'error', 'fatal'] as const)('flushes the buffer with a line of level %s', level => {
  const { log, events } = setup()
  log.info('before')
  log[level]('problem')
  log.info('after')
  expect(events().map(({ msg }) => msg)).toEqual(['before', 'problem'])
})

it('writes the lines of all roles of a process in their order, each with its role', () => {
  const { log, loggerOf, events } = setup()
  const scheduler = loggerOf('scheduler')
  log.info('first')
  scheduler.info({ task: 'a' }, 'second')
  log.info('third')
  scheduler.warn({ token: 'b' }, 'fourth')
  expect(events()).toMatchObject([
    { service: 'api', msg: 'first' },
    { service: 'scheduler', msg: 'second', task: 'a' },
    { service: 'api', msg: 'third' },
    { service: 'scheduler', msg: 'fourth', token: '[redacted]' },
  ])
})

it('hides credentials', async () => {
  const { log, events } = setup()
  log.info({ token: 'a', request: { authorization: 'b' } }, 'hidden')
  await vi.waitFor(() => expect(events()).toHaveLength(1), 10_000)
  expect(events()).toMatchObject([{ token: '[redacted]', request: { authorization: '[redacted]' } }])
})

it('writes frequent lines without looking for credentials, in order with the others', () => {
  const { log, events } = setup()
  withoutRedaction(log).info({ key: 'a' }, 'first')
  log.warn({ key: 'b' }, 'second')
  expect(events()).toMatchObject([
    { service: 'api', msg: 'first', key: 'a' },
    { service: 'api', msg: 'second', key: '[redacted]' },
  ])
})

it('writes every value as JSON, and leaves out the members that are undefined', () => {
  const { log, events } = setup()
  const text = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('')
  log.warn({ figure: -0.5, word: 'pending', text, lone: '\ud800', missing: undefined }, 'line')
  const [{ time, ...line }] = events()
  expect(line).toEqual({ level: 40, service: 'api', figure: -0.5, word: 'pending', text, lone: '\ud800', msg: 'line' })
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

it('writes no lines below the level', () => {
  const { log, events } = setup()
  log.level = 'warn'
  log.info('line')
  log.warn('flush')
  expect(events()).toHaveLength(1)
})

it('writes the buffered lines when the process exits', () => {
  const { log, events } = setup()
  for (let i = 0; i < 10; i++) log.info({ i }, 'event')
  expect(events()).toEqual([])
  process.listeners('exit').at(-1)?.(0)
  expect(events().map(({ i }) => i)).toEqual(Array.from({ length: 10 }, (_, i) => i))
})
