import { writeFile } from 'node:fs/promises'
import { arch, cpus, freemem, platform, release, tmpdir, totalmem, uptime } from 'node:os'
import { join } from 'node:path'
import type { Pool } from '@belfry/db/postgres/pool'
import { measureBacklog } from '@belfry/db/tasks/measure-backlog'
import { version } from '@belfry/domain/version'
import { reasonOf } from '@belfry/launcher'
import { create } from 'tar'
import type { Installation } from '../config.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type LogLine, readTail } from './checks/data-folder.ts'
import { readMigrations } from './checks/database.ts'
import type { Examination } from './examine.ts'
import { formatReport } from './print-report.ts'

// Only these variables are copied: a variable that is added later may hold a secret.
const harmless = [
  'ROLES',
  'PORT',
  'HOST',
  'METRICS_HOST',
  'METRICS_PORT',
  'LOG_LEVEL',
  'QUEUE_SHARDS',
  'DRAIN_SECONDS',
  'DISPATCH_CONCURRENCY',
  'HOST_CONCURRENCY',
  'REGISTRATION',
  'CONFIRM_EMAILS',
  'DEFAULT_TIER',
  'TIER_CHANGES',
  'BILLING',
  'RATE_LIMITS',
  'TRUST_PROXY',
  'ALLOWED_PRIVATE_TARGETS',
  'BLOCKED_TARGETS',
  'BELFRY_REVISION',
]

// Settings of PostgreSQL that cannot contain commands or addresses.
const serverSettings = [
  ...['server_version', 'max_connections', 'shared_buffers', 'work_mem', 'maintenance_work_mem', 'fsync'],
  ...['synchronous_commit', 'full_page_writes', 'wal_level', 'max_wal_size', 'checkpoint_timeout', 'autovacuum'],
  ...['autovacuum_naptime', 'default_transaction_read_only', 'effective_cache_size', 'random_page_cost', 'TimeZone'],
]

const logBytes = 1024 * 1024
// Mail servers name recipients in their refusals.
const mailAddress = /[\w.+-]+@[\w-]+(\.[\w-]+)+/g

/**
 * Writes a support archive. It contains the report, the names of set variables, the sizes of tables, counts of sessions and
 * work, and log lines reduced to their event: no value of a secret variable, no payload, no URL, no text of a statement.
 */
export async function writeBundle(
  file: string,
  installation: Installation,
  pool: Pool | null,
  { findings, processes }: Examination,
  redact: (text: string) => string,
): Promise<void> {
  await using folder = await temporaryFolder(join(tmpdir(), 'belfry-doctor-'))
  const put = (name: string, text: string) =>
    writeFile(join(folder.path, name), `${redact(text).replaceAll(mailAddress, '[address]')}\n`, { mode: 0o600 })
  const files: Record<string, string> = {
    'report.txt': formatReport(findings),
    'report.json': toJson({ findings }),
    'machine.json': toJson(describeMachine()),
    'variables.json': toJson(describeVariables(installation.env)),
    'processes.json': toJson(processes),
    'database.json': toJson(pool && (await describeDatabase(pool).catch(error => ({ error: reasonOf(error) })))),
  }
  if (installation.dataDir !== null) {
    const lines = await readTail(join(installation.dataDir, 'logs/belfry.log'), logBytes)
    files['log.jsonl'] = lines.map(reduceLine).join('\n')
  }
  for (const [name, text] of Object.entries(files)) await put(name, text)
  // The archive replaces this file and keeps its mode.
  await writeFile(file, '', { mode: 0o600 })
  await create({ gzip: true, file, cwd: folder.path, portable: true }, Object.keys(files))
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function describeMachine(): object {
  const [cpu] = cpus()
  return {
    belfry: version,
    node: process.versions.node,
    system: `${platform()} ${release()} ${arch()}`,
    processors: `${cpus().length} x ${cpu?.model ?? 'unknown'}`,
    memoryBytes: { total: totalmem(), free: freemem() },
    uptimeSeconds: Math.round(uptime()),
    writtenAt: new Date().toISOString(),
  }
}

function describeVariables(env: Installation['env']): Record<string, string> {
  const names = Object.keys(env).filter(name => /^[A-Z][A-Z0-9_]*$/.test(name) && env[name])
  const belfry = names.filter(name => harmless.includes(name) || own.test(name)).sort()
  return Object.fromEntries(belfry.map(name => [name, harmless.includes(name) ? String(env[name]) : 'set']))
}

const own =
  /^(DATABASE|REDIS|JWT|ENCRYPTION|OPERATOR|SMTP|MAIL|PUBLIC|ALLOWED|EGRESS|STRIPE|TIERS|OTEL|BACKUP|BELFRY|ABUSE|OWN)/

async function describeDatabase(pool: Pool): Promise<object> {
  const rows = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows
  return {
    settings: await rows('SELECT name, setting, unit, source FROM pg_settings WHERE name = ANY ($1) ORDER BY name', [
      serverSettings,
    ]),
    migrations: await readMigrations(pool),
    backlog: await measureBacklog(pool).catch(error => ({ error: reasonOf(error) })),
    tasks: await rows('SELECT state, count(*)::int AS count FROM tasks GROUP BY state').catch(() => null),
    dispatchers: await rows('SELECT id, quarantine, beats, started_at, seen_at, slots FROM dispatchers').catch(
      () => null,
    ),
    schedulers: await rows('SELECT id, seen_at FROM schedulers').catch(() => null),
    tables: await rows(`
      SELECT relname AS table, n_live_tup AS rows, n_dead_tup AS dead, pg_total_relation_size(relid) AS bytes,
             last_autovacuum, last_autoanalyze
      FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT 60`),
    sessions: await rows(`
      SELECT application_name AS name, state, wait_event_type, wait_event, count(*)::int AS count,
             max(extract(epoch FROM now() - xact_start))::int AS "oldestTransactionSeconds"
      FROM pg_stat_activity WHERE backend_type = 'client backend' GROUP BY 1, 2, 3, 4 ORDER BY count DESC`),
    locksWaitedFor: await rows(
      'SELECT mode, locktype, count(*)::int AS count FROM pg_locks WHERE NOT granted GROUP BY 1, 2',
    ),
  }
}

// The other members of a line may hold URLs, addresses or texts of targets. A stack without its message names code only.
function reduceLine(line: LogLine): string {
  const { level, time, service, msg, err, code, durationMs } = line as LogLine & {
    err?: { type?: string; code?: string; stack?: string }
    code?: string
    durationMs?: number
  }
  if (level === undefined) return JSON.stringify({ msg: 'a line that is not JSON was left out' })
  const frames = err?.stack?.split('\n').filter(text => /^\s+at .*:\d+:\d+\)?$/.test(text))
  const error = err && { type: err.type, code: err.code, frames }
  const isName = typeof msg === 'string' && /^[\w.-]+$/.test(msg)
  return JSON.stringify({ level, time, service, msg: isName ? msg : 'left out', code, durationMs, err: error })
}
