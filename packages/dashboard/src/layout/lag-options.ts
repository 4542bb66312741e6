import { formatDuration } from '../ui/format-time.ts'

export const lagOptions = [1_000, 10_000, 60_000, 600_000, 3_600_000].map(ms => {
  return { value: String(ms), label: `≥ ${formatDuration(ms)} late` }
})
