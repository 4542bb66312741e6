import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { repositoryRoot } from '../../repository-root.ts'
import { demandPosts, demandStop } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { steadyLoad } from '../fixture/load.ts'
import { lasting } from '../fixture/moments.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type { Row } from '../row.ts'

const latenessMs = 10_000

/** A new version is rolled out: its migration, then its processes. */
export const deployments: Row[] = [
  {
    id: 'S80',
    fault: 'a migration that adds a column to tasks, beside a transaction that reads tasks for 25 s',
    moment: '10 POSTs a second',
    expected: 'each POST is answered with 201; the migration waits, names the reader, and is applied after it',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      let output = ''
      const upgrade = async () => {
        await lasting(3_000)
        const reader = await openReader(fixture)
        const program = await packMigration(fixture, 'ALTER TABLE tasks ADD COLUMN added_later text')
        const env = { PATH: process.env.PATH, DATABASE_URL: fixture.postgres.url }
        const migrating = promisify(execFile)(process.execPath, [program, 'deploy'], { env })
        migrating.catch(() => {}) // rejects below
        await lasting(25_000)
        await reader.end()
        const { stdout, stderr } = await migrating
        output = stdout + stderr
        await lasting(3_000)
      }
      const answers = await steadyLoad(fixture, 10, upgrade())
      demandPosts(fixture, 201)
      fixture.demand(/held by pid \d+ \(reader/.test(output), `The migration did not name the reader: ${output}`)
      const added = await fixture.count(`information_schema.columns WHERE column_name = 'added_later'`)
      fixture.demand(added === 1, 'The migration was not applied.')
      const slowest = Math.max(...answers.map(({ tookMs }) => tookMs))
      const lines = dispatcher.output.split('\n').filter(line => line.includes('"attempt.finished"'))
      const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0) / lines.length
      fixture.notes.push(
        `${answers.length} POSTs, the slowest took ${slowest} ms`,
        `${bytes.toFixed(0)} bytes of log per attempt`,
      )
      return { latenessMs }
    },
  },
  {
    id: 'S81',
    fault: 'dispatcher and scheduler are replaced during a call of 2 minutes, with DRAIN_SECONDS=150',
    moment: 'M3, 10 POSTs a second',
    expected: 'the call succeeds and is not repeated; the old dispatcher ends with code 0 after it',
    async run(fixture) {
      const { dispatcher, scheduler } = await fixture.startAll({ dispatcher: { env: { DRAIN_SECONDS: '150' } } })
      const answers = [{ status: 200, delayMs: 120_000 }]
      const { id } = await fixture.create({ path: '/two-minutes', answers, timeoutMs: 150_000 })
      await fixture.target.reached('/two-minutes', 1)
      const replace = async () => {
        await Promise.all([fixture.start('dispatcher'), fixture.start('scheduler')])
        const stopping = demandStop(fixture, dispatcher, 135_000)
        fixture.demand((await scheduler.stop('SIGTERM')) === 0, 'The scheduler did not end with 0.')
        await stopping
      }
      await steadyLoad(fixture, 10, replace())
      demandPosts(fixture, 201)
      const calls = fixture.target.count('/two-minutes')
      fixture.demand(calls === 1, `The target was called ${calls} times.`)
      const [run] = await fixture.sql<{ status: string }>('SELECT status FROM runs WHERE task_id = $1', [
        uuidOf(id ?? ''),
      ])
      fixture.demand(run?.status === 'success', `Its run is ${run?.status}.`)
      return { latenessMs }
    },
  },
]

async function openReader(fixture: Fixture): Promise<pg.Client> {
  const reader = new pg.Client({ connectionString: fixture.postgres.url, application_name: 'reader' })
  await reader.connect()
  await reader.query('BEGIN')
  await reader.query('SELECT count(*) FROM tasks')
  return reader
}

// Copies the program of the migrations with one more migration. Returns its path.
async function packMigration(fixture: Fixture, script: string): Promise<string> {
  const [from, to] = [join(repositoryRoot(), 'prisma'), join(fixture.folder, 'prisma')]
  await mkdir(to)
  for (const name of ['dist', 'migrations', 'sql', 'schema.prisma'])
    await cp(join(from, name), join(to, name), { recursive: true })
  await symlink(join(from, 'node_modules'), join(to, 'node_modules'))
  const migration = join(to, 'migrations/20990101000000_later')
  await mkdir(migration)
  await writeFile(join(migration, 'migration.sql'), script)
  return join(to, 'dist/main.mjs')
}
