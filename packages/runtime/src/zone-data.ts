const monthsUntilOld = 6

/**
 * Returns the version of this process's time zone rules. `is_old`: governments may have changed rules since. A version such as
 * `2025c` has no month, so it counts as older than six months only when that is certain.
 */
export function zoneData(now: Date, version = process.versions.tz ?? 'unknown') {
  const year = Number(/^\d{4}/.exec(version)?.[0])
  return { version, is_old: !(Date.UTC(year + 1, monthsUntilOld) > now.getTime()) }
}
