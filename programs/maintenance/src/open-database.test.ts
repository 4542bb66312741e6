import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from './open-database.ts'
import { restore } from './restore/restore.ts'

// Windows has no images, and no such sockets.
it.skipIf(process.platform === 'win32')('neither opens nor replaces the database that a container uses', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'belfry-volume-'))
  const container = createServer(connection => void connection.destroy()).listen(join(dataDir, 'running.sock'))
  onTestFinished(async () => {
    container.close()
    await rm(dataDir, { recursive: true })
  })
  await once(container, 'listening')
  await mkdir(join(dataDir, 'postgres'))
  await writeFile(join(dataDir, 'postgres/PG_VERSION'), '18')
  const described = {
    createdAt: '',
    version: '',
    migration: '',
    postgres: '18.4',
    rows: {},
    hasSecrets: true,
    files: [],
  }
  await writeFile(join(dataDir, 'manifest.json'), JSON.stringify({ format: 1, kind: 'files', ...described }))
  const before = await readdir(dataDir)

  const installation = { dataDir, wantedDataDir: dataDir, launcher: null, env: {} }
  await expect(openDatabase(installation)).rejects.toThrow('A container still uses')
  const options = { hold: true }
  await expect(restore(installation, dataDir, options, () => {})).rejects.toThrow('A container still uses')
  expect((await readdir(dataDir)).sort()).toEqual([...before, 'logs'].sort())
})
