import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Postgres, startPostgres } from '@belfry/embedded'
import pg from 'pg'
import { endWithThisProcess } from './servers/index.ts'
import { logins, serviceUrl } from './service-url.ts'

const run = promisify(execFile)
const settings = { fsync: 'off', synchronous_commit: 'on', hot_standby: 'on' }

export type ReplicatedDatabase = {
  /** The URLs of both servers, as the role of the API. */
  primaryUrl: string
  replicaUrl: string
  /** Stops and continues the replay of changes on the replica. */
  pauseReplay(): Promise<void>
  resumeReplay(): Promise<void>
  /** Stops and continues all processes of the replica, which then does not answer. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Kills the replica. */
  kill(): Promise<void>
  /** Starts the killed replica again, on its port. */
  revive(): Promise<void>
  close(): Promise<void>
}

type Migrate = (databaseUrl: string, passwords: typeof logins) => Promise<unknown>

/** Starts a PostgreSQL with a streaming replica. `migrate` creates the schema and the roles of the services. */
export async function startReplicatedDatabase(migrate: Migrate): Promise<ReplicatedDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'replicated-'))
  const primary = await startPostgres({ dataDir: join(folder, 'primary'), settings })
  endWithThisProcess(primary.pid, primary.exited)
  await migrate(primary.url(), logins)
  const dataDir = join(folder, 'replica')
  await copyFiles(primary, join(folder, 'primary'), dataDir)
  const { password } = new URL(primary.url())
  const source = `host=127.0.0.1 port=${primary.port} user=postgres password=${password}`
  await writeFile(join(dataDir, 'standby.signal'), '')
  await writeFile(join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  let replica = await startPostgres({ dataDir, settings })
  endWithThisProcess(replica.pid, replica.exited)
  const onReplica = (text: string) => execute(replica.url(), text)
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of await processesOf(replica.pid)) process.kill(pid, name)
  }
  return {
    primaryUrl: serviceUrl(primary.url(), 'api'),
    replicaUrl: serviceUrl(replica.url(), 'api'),
    pauseReplay: () => onReplica('SELECT pg_wal_replay_pause()'),
    resumeReplay: () => onReplica('SELECT pg_wal_replay_resume()'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async kill() {
      replica.kill()
      await replica.exited
    },
    async revive() {
      replica = await startPostgres({ dataDir, settings, port: replica.port })
      endWithThisProcess(replica.pid, replica.exited)
    },
    async close() {
      replica.kill()
      primary.kill()
      await Promise.all([replica.exited, primary.exited])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// The binaries of the tests do not include pg_basebackup.
async function copyFiles(primary: Postgres, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url() })
  await client.connect()
  await client.query(`SELECT pg_backup_start('replica', true)`)
  // Files change while they are copied, and some disappear; the log has the missing changes.
  await run('cp', ['--archive', from, to]).catch(() => {})
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
  await client.end()
  await run('cp', ['--archive', join(from, 'pg_wal'), to])
  await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '')
  await rm(join(to, 'postmaster.pid'), { force: true })
  await run('chown', ['--reference', join(from, 'PG_VERSION'), join(to, 'backup_label')])
}

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}

async function processesOf(parent: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(parent)])
  return [parent, ...stdout.trim().split(/\s+/).filter(Boolean).map(Number)]
}
