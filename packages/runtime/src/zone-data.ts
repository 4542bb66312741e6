import type { Logger } from './logger.ts'

/** The time zone rules that this process has: their version, and whether they must be expected to be outdated. */
export type ZoneData = { version: string; is_old: boolean }

const monthsUntilOld = 6

/**
 * Tells which time zone rules this process has. A version such as `2025c` names the year of its release and no month, so
 * it counts as older than six months once that is certain.
 */
export function zoneData(now: Date, version = process.versions.tz ?? 'unknown'): ZoneData {
  const year = Number(/^\d{4}/.exec(version)?.[0])
  return { version, is_old: !(Date.UTC(year + 1, monthsUntilOld) > now.getTime()) }
}

/** Warns when governments may have changed their clocks since this process's time zone rules were made. */
export function warnOfOldZoneData(log: Logger, now = new Date()): void {
  const { version, is_old } = zoneData(now)
  const advice =
    'Cron jobs in zones whose rules have changed since run at the wrong time: update Node, or set NODE_ICU_DATA.'
  if (is_old) log.warn({ version, advice }, 'zone_data.old')
}
