import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type PostgresOptions, processIdentity, startPostgres } from '../src/index.ts'
import { temporaryFolder } from './temporary-folder.ts'

const quick = { fsync: 'off' }

test('starts a PostgreSQL 18 that keeps its data over a restart', async () => {
  const dataDir = join(temporaryFolder(), 'postgres')
  const first = await start({ dataDir })
  expect(await ask(first.url(), 'SHOW server_version_num')).toMatch(/^18/)
  await ask(first.url(), 'CREATE TABLE kept AS SELECT 42 AS value')
  await first.stop()
  expect(processIdentity(first.pid)).toBeNull()
  const second = await start({ dataDir })
  expect(await ask(second.url(), 'SELECT value FROM kept')).toBe(42)
})

test('applies the given settings and refuses a client without the password', async () => {
  const postgres = await start({
    dataDir: join(temporaryFolder(), 'postgres'),
    settings: { ...quick, work_mem: '7MB' },
  })
  expect(await ask(postgres.url(), 'SHOW work_mem')).toBe('7MB')
  await expect(ask(`postgresql://postgres:wrong@127.0.0.1:${postgres.port}/postgres`, 'SELECT 1')).rejects.toThrow(
    /password authentication failed/,
  )
})

test('starts on the same data and port right after a kill -9 of the postmaster, whose children end later', async () => {
  const dataDir = join(temporaryFolder(), 'postgres')
  const first = await start({ dataDir })
  await ask(first.url(), 'CREATE TABLE kept (value int)')
  await ask(first.url(), 'INSERT INTO kept VALUES (42)')
  const client = new pg.Client({ connectionString: first.url() })
  client.on('error', () => {}) // the server is killed below it
  const lost = new Promise<void>(resolve => client.once('end', resolve))
  await client.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  process.kill(rows[0].pid, 'SIGSTOP')
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const starting = start({ dataDir, port: first.port })
  await vi.waitFor(
    () => expect(readFileSync(`${dataDir}.log`, 'utf8')).toContain('pre-existing shared memory block'),
    10_000,
  )
  process.kill(rows[0].pid, 'SIGCONT')
  const second = await starting
  expect(second.port).toBe(first.port)
  expect(await ask(second.url(), 'SELECT value FROM kept')).toBe(42)
  await lost
})

test('stops a server that is still running on the same data', async () => {
  const dataDir = join(temporaryFolder(), 'postgres')
  const first = await start({ dataDir })
  await ask(first.url(), 'CREATE TABLE kept AS SELECT 42 AS value')
  const second = await start({ dataDir })
  expect(processIdentity(first.pid)).toBeNull()
  expect(await ask(second.url(), 'SELECT value FROM kept')).toBe(42)
})

test('does not stop a process that has reused the pid of an old server', async () => {
  const dataDir = join(temporaryFolder(), 'postgres')
  await (await start({ dataDir })).stop()
  const stranger = spawn('sleep', ['60'])
  onTestFinished(() => void stranger.kill('SIGKILL'))
  writeFileSync(join(dataDir, 'postmaster.pid'), `${stranger.pid}\n${dataDir}\n1\n1\n\n127.0.0.1\n\nready   \n`)
  const postgres = await start({ dataDir })
  expect(postgres.pid).not.toBe(stranger.pid)
  expect(stranger.exitCode).toBeNull()
})

test('uses another port when the wanted one is in use', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const postgres = await start({ dataDir: join(temporaryFolder(), 'postgres'), port })
  expect(postgres.port).not.toBe(port)
  expect(await ask(postgres.url(), 'SELECT 1')).toBe(1)
})

test('starts again after an interruption during the creation of the directory', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'postgres.init'))
  writeFileSync(join(folder, 'postgres.init', 'PG_VERSION'), '18')
  const postgres = await start({ dataDir: join(folder, 'postgres') })
  expect(await ask(postgres.url(), 'SELECT 1')).toBe(1)
  expect(readdirSync(folder).sort()).toEqual(['postgres', 'postgres.log'])
})

test('refuses a folder with other files and leaves it unchanged', async () => {
  const dataDir = join(temporaryFolder(), 'postgres')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'holiday.jpg'), '')
  await expect(startPostgres({ dataDir })).rejects.toThrow(`${dataDir} is in the way`)
  expect(readdirSync(dataDir)).toEqual(['holiday.jpg'])
  expect(existsSync(`${dataDir}.init`)).toBe(false)
})

test('shows the output of a server that does not start', async () => {
  const dataDir = join(temporaryFolder(), 'postgres')
  await expect(startPostgres({ dataDir, settings: { work_mem: 'plenty' } })).rejects.toThrow(
    /invalid value for parameter "work_mem"/,
  )
})

async function start(options: PostgresOptions) {
  const postgres = await startPostgres({ settings: quick, ...options })
  onTestFinished(() => postgres.stop())
  return postgres
}

async function ask(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query({ text: statement, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}
