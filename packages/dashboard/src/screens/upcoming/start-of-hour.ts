import { wallTimeOf } from '../../forms/when/zoned-time.ts'

/** Returns when the hour of the clock begins that an instant is in. Half an hour past UTC's in India. */
export function startOfHour(at: Date, zone: string): Date {
  const { minute, second } = wallTimeOf(at, zone)
  return new Date(at.getTime() - (minute * 60 + second) * 1000 - at.getUTCMilliseconds())
}
