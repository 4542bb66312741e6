import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { createLogger, loggerOfRole, plainLines } from './logger.ts'

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

it('writes the lines of all roles of a process in their order, each with its role', () => {
  const { log, events } = setup()
  const scheduler = loggerOfRole(log, 'scheduler')
  log.info('first')
  plainLines(scheduler, 'second')({ task: 'a' })
  log.info('third')
  scheduler.warn({ token: 'b' }, 'fourth')
  expect(events()).toMatchObject([
    { service: 'api', msg: 'first' },
    { service: 'scheduler', msg: 'second', task: 'a' },
    { service: 'api', msg: 'third' },
    { service: 'scheduler', msg: 'fourth', token: '[redacted]' },
  ])
})

it('hides credentials, but for lines that are known to have none', async () => {
  const { log, events } = setup()
  log.info({ token: 'a', request: { authorization: 'b' } }, 'hidden')
  plainLines(log, 'plain')({ token: 'c', task: 'd' })
  await vi.waitFor(() => expect(events()).toHaveLength(2), 10_000)
  expect(events()).toMatchObject([
    { token: '[redacted]', request: { authorization: '[redacted]' } },
    { service: 'api', token: 'c', task: 'd' },
  ])
})

it('writes plain lines as it writes the others', async () => {
  const { log, events } = setup()
  const text = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('')
  const members = { figure: -0.5, word: 'pending', text, lone: '\ud800', empty: '', missing: undefined }
  plainLines(log, 'line')(members)
  log.info(members, 'line')
  log.warn('flush')
  await vi.waitFor(() => expect(events()).toHaveLength(3), 10_000)
  const [plain, other] = events()
  expect({ ...plain, time: null }).toEqual({ ...other, time: null })
  expect(plain.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

it('writes no plain lines below the level', async () => {
  const { log, lines } = setup()
  const line = plainLines(log, 'line')
  log.level = 'warn'
  line({})
  log.warn('flush')
  expect(lines()).toHaveLength(1)
})
