import { formatDuration } from '../ui/format-time.ts'

/** A lag in milliseconds, as a filter has it. */
export const lagForm = /^\d{1,9}$/

export const lagOptions = [1_000, 10_000, 60_000, 600_000, 3_600_000].map(ms => {
  return { value: String(ms), label: `≥ ${formatDuration(ms)} late` }
})
