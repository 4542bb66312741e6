import { readProcessState } from '@belfry/db/dispatchers/process-state'
import type { Pool } from '@belfry/db/postgres/pool'
import { version } from '@belfry/domain/version'
import { reasonOf } from '@belfry/launcher'
import { type Observation, ok, problem, warning } from '../finding.ts'

export type ProcessReport = Awaited<ReturnType<typeof readProcess>>

const answerMs = 5_000

/**
 * Reads `/readyz` and `/metrics` of a process. Rejects when it does not answer.
 * @param token - METRICS_TOKEN, if the process has one.
 */
async function readProcess(url: string, token?: string) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {}
  const get = (path: string) => fetch(new URL(path, url), { headers, signal: AbortSignal.timeout(answerMs) })
  const ready = await get('/readyz')
  const state = (await ready.json()) as { checks?: Record<string, string>; warnings?: string[] } // Belfry's own answer
  const metrics = await (await get('/metrics')).text()
  const skew = /^belfry_clock_skew_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1]
  return {
    url,
    ready: ready.ok,
    version: /^belfry_build_info\{[^}]*\bversion="([^"]*)"/m.exec(metrics)?.[1] ?? null,
    warnings: state.warnings ?? [],
    unavailable: Object.entries(state.checks ?? {}).flatMap(([name, result]) => (result === 'ok' ? [] : [name])),
    /** How far the clock of PostgreSQL is ahead of the process, in ms. */
    skewMs: skew === undefined ? null : Math.round(Number(skew) * 1000),
  }
}

/** Checks processes by their operators' ports. Adds to `reports` what those say. */
export async function checkProcesses(
  urls: readonly string[],
  token: string | undefined,
  reports: ProcessReport[],
): Promise<Observation[]> {
  const found: Observation[] = []
  for (const url of urls) {
    try {
      reports.push(await readProcess(url, token))
    } catch (error) {
      const advice = 'It has ended, hangs or listens elsewhere (METRICS_HOST, METRICS_PORT). Look into its log.'
      found.push(problem(`The process at ${url} does not answer: ${reasonOf(error)}`, advice))
    }
  }
  return [...found, ...reports.flatMap(judge)]
}

function judge(report: ProcessReport): Observation[] {
  const { url, ready, unavailable } = report
  const found: Observation[] = []
  if (!ready) {
    const reason = unavailable.length > 0 ? `it cannot reach ${unavailable.join(' and ')}` : 'it is starting'
    found.push(problem(`The process at ${url} is not ready: ${reason}.`, 'Look into its log and at its variables.'))
  }
  if (report.version !== null && report.version !== version) {
    const message = `The process at ${url} is Belfry ${report.version}; this is ${version}.`
    found.push(warning(message, 'Finish the upgrade: all processes should run one version.'))
  }
  return found.length > 0 ? found : [ok(`the process at ${url} is ready`)]
}

/** Checks the heartbeats. `isStopped`: the operator has stopped the installation. */
export async function checkHeartbeats(pool: Pool, isStopped: boolean): Promise<Observation[]> {
  const { dispatchers, schedulers } = await readProcessState(pool)
  if (isStopped) {
    if (dispatchers.live + schedulers.live === 0) return [ok('no process runs')]
    return [warning('Processes run on this database although the installation is stopped.', 'Find and stop them.')]
  }
  const found = [
    judgeLive('dispatcher', dispatchers, 'No task is delivered.'),
    judgeLive('scheduler', schedulers, 'Cron jobs stand still, and work of dead dispatchers is not repeated.'),
  ].flat()
  if (found.length > 0) return found
  return [ok(`dispatchers alive: ${dispatchers.live}, schedulers alive: ${schedulers.live}`)]
}

function judgeLive(name: string, { live, lastSeenAt }: { live: number; lastSeenAt: Date | null }, effect: string) {
  if (live > 0) return []
  const seen = lastSeenAt === null ? 'none has ever run' : `the last heartbeat was at ${lastSeenAt.toISOString()}`
  return [problem(`No ${name} is alive: ${seen}. ${effect}`, `Start a ${name}; look into its log why it ended.`)]
}
