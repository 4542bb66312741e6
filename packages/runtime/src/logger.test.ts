import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { frequentLine, openLog } from './logger.ts'

const folders: string[] = []
let exitListeners: NodeJS.ExitListener[] = []
beforeEach(() => {
  exitListeners = process.listeners('exit')
})
afterEach(() => {
  for (const listener of process.listeners('exit')) if (!exitListeners.includes(listener)) process.off('exit', listener)
  vi.useRealTimers()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'))
  folders.push(folder)
  const file = join(folder, 'log')
  const descriptor = openSync(file, 'w')
  const loggerOf = openLog('info', descriptor)
  const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const events = () => lines().map(line => JSON.parse(line))
  return { log: loggerOf('api'), loggerOf, file, descriptor, events }
}

it('writes a line for each event, in order, without an explicit flush', async () => {
  const { log, events } = setup()
  for (let i = 0; i < 500; i++) log.info({ i, text: 'ü\n"' }, 'event')
  await vi.waitFor(() => expect(events()).toHaveLength(500), 10_000)
  expect(events().map(({ i }) => i)).toEqual(Array.from({ length: 500 }, (_, i) => i))
  expect(events()[0]).toMatchObject({ service: 'api', level: 30, text: 'ü\n"', msg: 'event' })
})

it('has no timer while nothing is buffered', () => {
  vi.useFakeTimers()
  const { log, events } = setup()
  expect(vi.getTimerCount()).toBe(0)
  log.info('first')
  log.info('second')
  expect([vi.getTimerCount(), events()]).toEqual([1, []])
  vi.advanceTimersByTime(250)
  expect(events().map(({ msg }) => msg)).toEqual(['first', 'second'])
  log.info('third')
  log.warn('fourth')
  expect([vi.getTimerCount(), events().length]).toEqual([0, 4])
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
  const write = frequentLine(log, 'first')
  write({ key: 'a', missing: undefined })
  log.warn({ key: 'b' }, 'second')
  const [first, second] = events()
  expect(first).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: 'api',
    instance: hostname(),
    key: 'a',
    msg: 'first',
  })
  expect(second).toMatchObject({ service: 'api', msg: 'second', key: '[redacted]' })
})

it('writes no frequent line below the level, and takes any logger', () => {
  const { log, events } = setup()
  const write = frequentLine(log, 'first')
  log.level = 'warn'
  write({ i: 1 })
  frequentLine(log.child({}), 'second')({ i: 2 })
  log.warn('flush')
  expect(events()).toMatchObject([{ msg: 'flush' }])
})

it('writes the time of each line', () => {
  vi.useFakeTimers()
  const { log, events } = setup()
  const times = [0, 7, 999, 1_000, 86_400_000, 500].map(ms => 1_700_000_000_000 + ms)
  for (const time of times) {
    vi.setSystemTime(time)
    log.warn('event')
  }
  expect(events().map(({ time }) => Date.parse(time))).toEqual(times)
})

it('writes every value as JSON, and leaves out the members that are undefined', () => {
  const { log, events } = setup()
  const text = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('')
  log.warn({ figure: -0.5, word: 'pending', text, lone: '\ud800', missing: undefined }, 'line')
  const [{ time, ...line }] = events()
  const instance = hostname()
  expect(line).toEqual({
    level: 40,
    service: 'api',
    instance,
    figure: -0.5,
    word: 'pending',
    text,
    lone: '\ud800',
    msg: 'line',
  })
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

describe('a log that cannot be written', () => {
  it.runIf(existsSync('/dev/full'))('does not end the process or block it', () => {
    const log = openLog('info', openSync('/dev/full', 'w'))('api')
    for (let i = 0; i < 50; i++) log.info({ text: 'x'.repeat(1_000) }, 'event')
    for (const level of ['warn', 'error', 'fatal'] as const) log[level]('problem')
    process.listeners('exit').at(-1)?.(0)
  })

  it('keeps the first megabyte of its lines, and writes them later', () => {
    const { log, file, descriptor, events } = setup()
    closeSync(descriptor)
    for (let i = 0; i < 1_500; i++) log.info({ i, text: 'x'.repeat(1_000) }, 'event')
    expect(openSync(file, 'w')).toBe(descriptor)
    log.warn({ text: 'x'.repeat(1_000) }, 'dropped')
    expect(statSync(file).size).toBeLessThanOrEqual(2 ** 20)
    expect(statSync(file).size).toBeGreaterThan(2 ** 20 - 1_200)
    log.warn('after')
    const [last, ...kept] = events().reverse()
    expect(last.msg).toBe('after')
    expect(kept.reverse().map(({ i }) => i)).toEqual(Array.from(kept, (_, i) => i))
  })
})
