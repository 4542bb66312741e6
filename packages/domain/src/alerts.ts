/** What a workspace's integrations can be told of. Published: an event never changes its meaning. */
export const alertEvents = [
  'task.dead',
  'cronjob.failing',
  'cronjob.recovered',
  'quota.warning',
  'quota.reached',
] as const
export type AlertEvent = (typeof alertEvents)[number]

/** Where alerts can go. */
export const alertChannels = ['slack', 'discord', 'email', 'webhook'] as const
export type AlertChannel = (typeof alertChannels)[number]

const shortestPauseMs = 60_000
const longestPauseMs = 3_600_000

/**
 * How long an integration is told nothing more after an alert; what happens meanwhile is told together afterwards. While
 * the alerts go on it doubles, from a minute to an hour.
 * @param lastPauseMs - The pause after the alert before; 0 for the first one.
 * @param sinceMs - How long ago that was.
 */
export function nextAlertPause(lastPauseMs: number, sinceMs: number): number {
  const goesOn = sinceMs < 2 * lastPauseMs
  return goesOn ? Math.min(2 * lastPauseMs, longestPauseMs) : shortestPauseMs
}
