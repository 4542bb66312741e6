const second = 1000
const minute = 60 * second
const hour = 60 * minute
const durations = [second, minute, hour].flatMap(unit => [1, 2, 5, 10, 15, 30].map(steps => steps * unit))

/** Returns three to five round values from 0 to at least the maximum, for an axis. */
export function ticksOf(max: number, isDuration: boolean): number[] {
  const step = stepOf(Math.max(max, 4) / 4, isDuration)
  const count = Math.max(2, Math.ceil(max / step))
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

// Durations from a second on have steps of the clock.
function stepOf(least: number, isDuration: boolean): number {
  const ofClock = isDuration && least > second / 2 && durations.find(step => step >= least)
  if (ofClock) return ofClock
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5, 10].find(step => step * power >= least) ?? 10) * power
}
