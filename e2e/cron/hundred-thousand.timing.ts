import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startPostgres } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { expect, it } from 'vitest'
import { startService } from '../processes.ts'

const jobs = 100_000
const secondsAllowed = 30
const megabytesAllowed = 32

it(`expands ${jobs} cron jobs of one minute within ${secondsAllowed} s, in memory that does not grow with them`, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'belfry-many-'))
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres') })
  const db = new pg.Client({ connectionString: postgres.url() })
  try {
    const deploy = fileURLToPath(new URL('../../prisma/dist/main.mjs', import.meta.url))
    const env = { PATH: process.env.PATH, DATABASE_URL: postgres.url() }
    await promisify(execFile)(process.execPath, [deploy, 'deploy'], { env })
    await db.connect()
    await insertCronJobs(db)
    const scheduler = await startService('scheduler', { DATABASE_URL: postgres.url(), METRICS_PORT: '0' })
    const count = async (text: string) => Number((await db.query(text)).rows[0].n)
    // The test polls it often, so it must be cheap.
    const remain = () =>
      count(
        `SELECT count(*) AS n FROM (SELECT FROM cron_jobs WHERE next_run_at < now() + interval '6 minutes' LIMIT 1) due`,
      )

    // All are due at the same time, at the end of the scheduler's window. Half of them go first, to compare the memory.
    const seconds: number[] = []
    const peaks: number[] = []
    for (const names of ["< 'job 5'", ">= 'job 5'"]) {
      await db.query(`UPDATE cron_jobs SET next_run_at = now() + interval '350 seconds' WHERE name ${names}`)
      const updated = performance.now()
      await waitFor(remain, n => n === 0, 120_000)
      seconds.push((performance.now() - updated) / 1000)
      peaks.push(peakMegabytes(scheduler.pid))
      console.log(`${jobs / 2} in ${seconds.at(-1)?.toFixed(1)} s, peak memory ${peaks.at(-1)} MB`)
    }
    expect(await count('SELECT count(DISTINCT cron_job_id) AS n FROM tasks')).toBe(jobs)
    expect(await count('SELECT count(*) AS n FROM task_requests WHERE length(payload) > 1000')).toBe(jobs)
    expect(seconds.reduce((sum, part) => sum + part, 0)).toBeLessThan(secondsAllowed)
    expect((peaks[1] ?? 0) - (peaks[0] ?? 0)).toBeLessThan(megabytesAllowed)
    await scheduler.stop('SIGTERM')
  } finally {
    await db.end()
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
})

// In 50 time zones, each with a payload of a kilobyte, on weekdays that are over a day away: none of them is due, and no second
// occurrence comes into the window of the scheduler.
async function insertCronJobs(db: pg.Client): Promise<void> {
  const [organization, workspace] = [randomUUID(), randomUUID()]
  await db.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', 'a', 'unicorn')`, [organization])
  await db.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`, [workspace, organization])
  const zones = Intl.supportedValuesOf('timeZone').filter((_, i) => i % 8 === 0)
  const weekdays = [2, 3, 4, 5].map(days => (new Date().getUTCDay() + days) % 7).join(',')
  const text = `
    INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, url, method, payload, max_retries,
                           backoff, base_delay_ms, max_delay_ms, timeout_ms)
    SELECT gen_random_uuid(), $1, 'job ' || i % 10 || ' ' || i, i % 60 || ' 9 * * ' || $4, ($2::text[])[1 + i % $3::int],
           'allow', 'latest', 'https://example.com/' || i, 'POST', '"' || repeat(md5(i::text), 32) || '"', 5,
           'exponential', 10000, 3600000, 30000
    FROM generate_series(1, ${jobs}) i`
  await db.query(text, [workspace, zones, zones.length, weekdays])
  await db.query('VACUUM ANALYZE cron_jobs')
}

function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024)
}
