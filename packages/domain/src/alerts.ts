/** The events that integrations can subscribe to. Published: an event never changes its meaning. */
export const alertEvents = [
  'task.dead',
  'cronjob.failing',
  'cronjob.recovered',
  'host.failing',
  'host.recovered',
  'endpoint.failing',
  'endpoint.switched_off',
  'quota.warning',
  'quota.reached',
] as const
export type AlertEvent = (typeof alertEvents)[number]

export const alertChannels = ['slack', 'discord', 'email', 'webhook'] as const
export type AlertChannel = (typeof alertChannels)[number]

const minPauseMs = 60_000
const maxPauseMs = 3_600_000

/**
 * Returns the pause after an alert, in milliseconds. The next alert groups the events of the pause. While alerts continue
 * the pause doubles, from a minute to an hour.
 * @param lastPauseMs - The pause after the previous alert; 0 for the first one.
 * @param sinceMs - The time since the previous alert.
 */
export function nextAlertPause(lastPauseMs: number, sinceMs: number): number {
  const continues = sinceMs < 2 * lastPauseMs
  return continues ? Math.min(2 * lastPauseMs, maxPauseMs) : minPauseMs
}
