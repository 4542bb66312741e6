import type { Pool } from '@belfry/db/postgres/pool'
import { type Observation, ok, problem, warning } from '../finding.ts'

const warnFromMs = 200
const problemFromMs = 5_000

/** Returns how far the clock of PostgreSQL is ahead of this machine, in ms: the best of three measurements. */
export async function measureDatabaseSkew(pool: Pool): Promise<number> {
  let best = { tripMs: Number.POSITIVE_INFINITY, skewMs: 0 }
  for (let i = 0; i < 3; i++) {
    const [start, before] = [performance.now(), Date.now()]
    const { rows } = await pool.query<{ ms: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
    )
    const tripMs = performance.now() - start
    if (tripMs < best.tripMs) best = { tripMs, skewMs: Math.round((rows[0]?.ms ?? 0) - (before + tripMs / 2)) }
  }
  return best.skewMs
}

/** Judges how far clocks are ahead of this machine's, by the name of their server. */
export function judgeClocks(skews: Readonly<Record<string, number>>): Observation[] {
  const found = Object.entries(skews).flatMap(([name, skewMs]) => judge(name, skewMs))
  return found.length > 0 ? found : [ok(`clocks agree: ${Object.keys(skews).join(', ')}`)]
}

function judge(name: string, skewMs: number): Observation[] {
  const distance = Math.abs(skewMs)
  if (distance < warnFromMs) return []
  const message = `The clock of ${name} is ${(distance / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's.`
  const advice = 'Run NTP (chrony or systemd-timesyncd) on both machines.'
  return [distance < problemFromMs ? warning(message, advice) : problem(message, advice)]
}
