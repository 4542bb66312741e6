/**
 * The time zone rules that this process has: their version, and whether governments must be expected to have changed their
 * clocks since.
 */
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
