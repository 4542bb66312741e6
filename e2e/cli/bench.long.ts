import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'

// The settings of an installation, which the command must not use.
const foreign = {
  DATABASE_URL: 'postgresql://127.0.0.1:1/belfry',
  API_DATABASE_URL: 'postgresql://belfry_api:secret@127.0.0.1:1/belfry',
  REDIS_URL: 'redis://127.0.0.1:1',
}

it('measures a server of the user in a database of its own, and leaves the server as it was', async () => {
  const folder = makeFolder()
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') })
  onTestFinished(() => postgres.stop())
  const before = await contentsOf(postgres.url())
  const program = join(repositoryRoot(), 'programs/cli/dist/main.mjs')
  const url = new URL(postgres.url())
  const env = { PATH: process.env.PATH, TMPDIR: makeFolder(), PGPASSWORD: url.password, ...foreign }
  const args = [program, 'bench', '--json', '--database-url', Object.assign(url, { password: '' }).href]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  const { machine, figures } = JSON.parse(stdout) as Report
  expect(figures.map(({ key }) => key)).toEqual([
    ...[
      'creates_per_second',
      'dispatches_per_second',
      'lateness_p50_ms',
      'lateness_p99_ms',
      'light_p50_ms',
      'light_p99_ms',
    ],
  ])
  for (const { value, floor = 1 } of figures) expect(Math.min(value, floor)).toBeGreaterThan(0)
  expect(machine).toMatchObject({ node: process.versions.node, postgres: expect.stringMatching(/^\d+\.\d+$/) })
  expect(await contentsOf(postgres.url())).toEqual(before)
  expect(readdirSync(env.TMPDIR)).toEqual([])
})

type Report = { machine: object; figures: Array<{ key: string; value: number; floor?: number }> }

it('removes everything when it is stopped', async () => {
  const env = { PATH: process.env.PATH, TMPDIR: makeFolder(), ...foreign }
  const program = join(repositoryRoot(), 'programs/maintenance/dist/main.mjs')
  const child = spawn(process.execPath, [program, 'bench'], { env })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', text => (output += text))
  const exit = once(child, 'exit')
  await waitFor(
    async () => output,
    text => text.includes('measuring the floor'),
    60_000,
  )
  child.kill('SIGTERM')
  expect(await exit).toEqual([1, null])
  expect(output).toContain('Stopped.')
  expect(readdirSync(env.TMPDIR)).toEqual([])
})

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-measured-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Returns the databases and roles of a server. */
async function contentsOf(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const text = 'SELECT datname AS name FROM pg_database UNION ALL SELECT rolname FROM pg_roles ORDER BY name'
  const { rows } = await client.query<{ name: string }>(text).finally(() => client.end())
  return rows.map(({ name }) => name)
}
