import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { PlainError, reasonOf, startCommand } from '@belfry/launcher'
import { withinMs } from '@belfry/runtime'
import type { Installation } from '../config.ts'
import { openDatabase } from '../open-database.ts'
import { checkBackups, checkDisk, checkLogs } from './checks/data-folder.ts'
import {
  checkClocks,
  checkConnection,
  checkServer,
  explainRefusal,
  judgeMigrations,
  readMigrations,
} from './checks/database.ts'
import { checkHeartbeats, checkProcesses, type ProcessReport } from './checks/processes.ts'
import { checkKeys, checkMail, checkSettings } from './checks/settings.ts'
import { checkPartitions, checkWork } from './checks/work.ts'
import { type Finding, type Observation, problem, warning } from './finding.ts'

export type DoctorOptions = {
  /** URLs to call by the dispatcher's rules. */
  target: readonly string[]
  /** The operators' ports of the processes, such as `http://10.0.0.7:9090`. */
  process: readonly string[]
  /** Whether the operator has stopped the services. */
  stopped?: boolean
}

/** What the doctor read; the support archive contains more of it than the report. */
export type Examination = { findings: Finding[]; processes: ProcessReport[] }

const checkMs = 30_000

/**
 * Checks an installation, running or stopped, without changes to it. A check that fails is a finding, and the other checks
 * still run.
 * @param whileOpen - Runs at the end, while the database is still open; null when it cannot be reached.
 */
export async function examine(
  installation: Installation,
  options: DoctorOptions,
  whileOpen: (pool: Pool | null, examined: Examination) => Promise<void>,
): Promise<Examination> {
  const { dataDir, launcher, env } = installation
  const examined: Examination = { findings: [], processes: [] }
  const isStopped = options.stopped || (dataDir !== null && launcher === null)
  const skews: Record<string, number> = {}

  async function run(check: string, work: Work): Promise<void> {
    examined.findings.push(...(await observe(work)).map(found => ({ check, ...found })))
  }

  async function examineDatabase(pool: Pool): Promise<void> {
    let isMigrated = false
    await run('migrations', async () => {
      const history = await readMigrations(pool)
      isMigrated = history.pending.length === 0
      return judgeMigrations(history)
    })
    await run('database', () => checkServer(pool))
    await run('clocks', () => checkClocks(pool, skews, examined.processes))
    // The statements of this version may not fit the tables of another.
    if (!isMigrated) return
    await run('keys', () => checkKeys(pool, env))
    await run('processes', () => checkHeartbeats(pool, isStopped))
    await run('work', () => checkWork(pool, isStopped))
    await run('partitions', () => checkPartitions(pool))
  }

  await run('settings', () => checkSettings(env))
  if (dataDir !== null) {
    if (isStopped)
      await run('processes', () => [warning(`Belfry does not run on ${dataDir}.`, `Start it: ${startCommand}`)])
    await run('disk', () => checkDisk(dataDir))
    await run('log', () => checkLogs(dataDir))
  }
  if (env.BACKUP_SCHEDULE) await run('backups', () => checkBackups(installation))
  const { REDIS_URL: redisUrl } = env
  if (redisUrl) await run('redis', async () => (await import('./checks/redis.ts')).checkRedis(redisUrl, skews))
  const urls = processesOf(installation, options)
  await run('processes', () => checkProcesses(urls, env.METRICS_TOKEN, examined.processes))
  await withDatabase(installation, run, async pool => {
    if (pool !== null) await examineDatabase(pool)
    await run('mail', () => checkMail(env))
    for (const target of options.target) {
      await run('target', async () => (await import('./checks/target.ts')).checkTarget(target, withDatabaseUrl(env)))
    }
    await whileOpen(pool, examined)
  })
  return examined
}

type Work = () => Promise<Observation[]> | Observation[]
type Run = (check: string, work: Work) => Promise<void>

async function observe(work: Work): Promise<Observation[]> {
  try {
    return await withinMs(checkMs, async () => work())
  } catch (error) {
    if (error instanceof PlainError) return [problem(error.message, 'Set the variables of the services, or DATA_DIR.')]
    return [problem(`This could not be checked: ${reasonOf(error)}`, 'Run the doctor as the owner of the database.')]
  }
}

async function withDatabase(installation: Installation, run: Run, work: (pool: Pool | null) => Promise<void>) {
  const opening = openDatabase(installation)
  await run('database', async () => {
    try {
      return await checkConnection((await opening).url)
    } catch (error) {
      if (!installation.env.DATABASE_URL) throw error
      return [explainRefusal(error)]
    }
  })
  await using database = await opening.catch(() => null)
  if (database === null) return await work(null)
  const pool = openPool(database.url, { name: 'belfry-doctor', max: 4, onError: () => {} })
  const isReachable = (await pool.query('SELECT').catch(() => null)) !== null
  try {
    await work(isReachable ? pool : null)
  } finally {
    await pool.end()
  }
}

function processesOf({ launcher }: Installation, { process: given }: DoctorOptions): readonly string[] {
  if (given.length > 0 || !launcher?.operatorPort) return given
  return [`http://127.0.0.1:${launcher.operatorPort}`]
}

function withDatabaseUrl(env: Installation['env']): Installation['env'] {
  return {
    ...env,
    DATABASE_URL: env.DATABASE_URL || 'postgresql://127.0.0.1/postgres',
    // A dummy key: the address rules do not use it.
    ENCRYPTION_KEYS:
      env.ENCRYPTION_KEYS || `none:${Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64')}`,
  }
}
