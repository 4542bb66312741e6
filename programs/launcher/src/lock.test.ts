import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { processIdentity } from '@belfry/embedded'
import { expect, onTestFinished, test, vi } from 'vitest'
import { killLeftover, type Lock, takeLock } from './lock.ts'

const url = 'http://localhost:3000'

test('is held by one process, and free after its release', () => {
  const path = lockPath()
  const lock = take(path)
  expect(takeLock(path, 'http://localhost:4000')).toMatchObject({ holder: { pid: process.pid, url } })
  lock.release()
  expect(readdirSync(dirname(path))).toEqual([])
  expect(take(path).leftovers).toEqual([])
})

test.each([
  ['a process that has ended', JSON.stringify({ pid: 2 ** 22 + 1, identity: 'x', url, services: {} })],
  ['another program that has reused the pid', JSON.stringify({ pid: process.pid, identity: 'x', url, services: {} })],
  ['a truncated write', '{"pid": 12'],
  ['an empty file', ''],
])('is taken over from %s', (_, text) => {
  const path = lockPath()
  writeFileSync(path, text)
  const lock = take(path)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid, url })
  lock.release()
  expect(existsSync(path)).toBe(false)
})

test('returns the services that a killed launcher left running', () => {
  const path = lockPath()
  const service = spawn('sleep', ['60'])
  onTestFinished(() => void service.kill('SIGKILL'))
  const alive = { pid: service.pid, identity: processIdentity(service.pid ?? 0) }
  const services = { api: alive, scheduler: { pid: process.pid, identity: 'x' } }
  writeFileSync(path, JSON.stringify({ pid: process.pid, identity: 'x', url, services }))
  expect(take(path).leftovers).toEqual([alive])
})

test('records the services', () => {
  const path = lockPath()
  take(path).recordService('api', process.pid)
  const { services } = JSON.parse(readFileSync(path, 'utf8'))
  expect(services).toEqual({ api: { pid: process.pid, identity: processIdentity(process.pid) } })
})

test('kills a leftover, and accepts that it has just ended', async () => {
  const service = spawn('sleep', ['60'])
  const pid = service.pid ?? 0
  const leftover = { pid, identity: processIdentity(pid) }
  const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
    throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' })
  })
  onTestFinished(() => kill.mockRestore())
  killLeftover(leftover)
  const ended = once(service, 'exit')
  killLeftover(leftover)
  expect(await ended).toEqual([null, 'SIGKILL'])
  killLeftover(leftover)
  expect(kill).toHaveBeenCalledTimes(2)
})

function take(path: string): Lock {
  const lock = takeLock(path, url)
  if ('holder' in lock) throw new Error('The lock is held.')
  return lock
}

function lockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'run.json')
}
