import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processIdentity } from '@belfry/embedded'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findRedisServer, type RedisOptions, startRedis } from '../src/servers/index.ts'

describe.skipIf(!findRedisServer())('a private Redis', () => {
  test('runs with the settings that the queue needs', async () => {
    const redis = await start({ dataDir: join(temporaryFolder(), 'redis'), persist: true })
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`)
    expect(await send(redis.port, 'CONFIG GET maxmemory-policy')).toContain('noeviction')
    expect(await send(redis.port, 'CONFIG GET bind')).toContain('127.0.0.1')
  })

  test('keeps its data over a restart', async () => {
    const dataDir = join(temporaryFolder(), 'redis')
    const first = await start({ dataDir, persist: true })
    await send(first.port, 'SET kept 42')
    await first.stop()
    expect(processIdentity(first.pid)).toBeNull()
    const second = await start({ dataDir, persist: true })
    expect(await send(second.port, 'GET kept')).toContain('42')
  })

  test('starts on the same data and port right after a kill -9', async () => {
    const dataDir = join(temporaryFolder(), 'redis')
    const first = await start({ dataDir, persist: true })
    // Redis writes the file before it responds; only the sync to disk waits for up to a second.
    await send(first.port, 'SET kept 42')
    first.kill()
    await first.exited
    const second = await start({ dataDir, persist: true, port: first.port })
    expect(second.port).toBe(first.port)
    expect(await send(second.port, 'GET kept')).toContain('42')
  })

  test('stops a server that is still running on the same data', async () => {
    const dataDir = join(temporaryFolder(), 'redis')
    const first = await start({ dataDir, persist: true })
    const second = await start({ dataDir, persist: true })
    expect(processIdentity(first.pid)).toBeNull()
    expect(await send(second.port, 'PING')).toContain('PONG')
  })

  test('writes nothing without persistence', async () => {
    const dataDir = join(temporaryFolder(), 'redis')
    const redis = await start({ dataDir, persist: false })
    await send(redis.port, 'SET lost 42')
    await redis.stop()
    expect(existsSync(join(dataDir, 'appendonlydir'))).toBe(false)
    const second = await start({ dataDir, persist: false })
    expect(await send(second.port, 'EXISTS lost')).toContain(':0')
  })
})

async function start(options: RedisOptions) {
  const redis = await startRedis(options)
  onTestFinished(() => redis.stop())
  return redis
}

function send(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\nQUIT\r\n`))
    socket.on('data', chunk => (answer += chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

/** Creates a folder for one test. It is removed after the test's other clean-ups. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry redis-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
