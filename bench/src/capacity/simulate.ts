import { type Costs, type Load, mixed } from './model.ts'

/** The installation at the end of a month. */
export type Month = {
  month: number
  waitingRows: number
  keptRuns: number
  partitions: number
  databaseGb: number
  /** In the fullest five minutes of the month. */
  redisMb: number
  dispatchesAtPeak: number
}

const secondsPerHour = 3600
const hoursPerDay = 24
const daysPerMonth = 30
const lookAheadS = 300
const partitionsAhead = 3

/** Multiplies a day's average: nights are quiet, and much is due at the full hour of the morning. */
export function profileOf(hour: number): number {
  return 1 + 0.6 * Math.cos(((hour - 9) / hoursPerDay) * 2 * Math.PI)
}

/**
 * Lets an empty installation run for months, hour by hour: tasks are made `daysAhead` before their time, dispatched, and
 * forgotten with the log. `atFullMinute` is the part of an hour's tasks that is due in its first minute, as people write
 * schedules.
 */
export function simulate(load: Load, costs: Costs, months: number, atFullMinute = 0.2): Month[] {
  const hours = months * daysPerMonth * hoursPerDay
  const [ahead, kept] = [Math.round(load.daysAhead * hoursPerDay), Math.round(load.keptDays * hoursPerDay)]
  const bytesInRedis = mixed(load, costs.redisBytes, costs.redisBytesAlone)
  const dispatched: number[] = []
  const results: Month[] = []
  let [waitingRows, keptRuns, redisMb, peak] = [0, 0, 0, 0]
  for (let hour = 0; hour < hours; hour++) {
    // What is due in an hour was made as long before, so nothing is due in the first days.
    const madeNow = load.dispatchesPerSecond * secondsPerHour * profileOf((hour + ahead) % hoursPerDay)
    const due = hour < ahead ? 0 : load.dispatchesPerSecond * secondsPerHour * profileOf(hour % hoursPerDay)
    dispatched.push(due)
    waitingRows += madeNow - due
    keptRuns += due - (dispatched[hour - kept] ?? 0)
    const inFullestWindow = due * (atFullMinute + ((1 - atFullMinute) * lookAheadS) / secondsPerHour)
    redisMb = Math.max(redisMb, (inFullestWindow * bytesInRedis) / 1e6)
    peak = Math.max(peak, (due * atFullMinute) / 60)
    if ((hour + 1) % (daysPerMonth * hoursPerDay) !== 0) continue
    const month = (hour + 1) / (daysPerMonth * hoursPerDay)
    results.push({
      month,
      waitingRows,
      keptRuns,
      ...storeOf(load, costs, month, waitingRows, keptRuns),
      redisMb,
      dispatchesAtPeak: peak,
    })
    ;[redisMb, peak] = [0, 0]
  }
  return results
}

function storeOf(load: Load, costs: Costs, month: number, waitingRows: number, keptRuns: number) {
  const waiting = waitingRows * (costs.waitingBytes + load.payloadBytes)
  const history = keptRuns * (costs.finishedBytes + load.payloadBytes + costs.runBytes)
  const keptMonths = Math.min(month, Math.ceil(load.keptDays / daysPerMonth) + 1)
  return { partitions: keptMonths + partitionsAhead, databaseGb: (waiting + history) / 1e9 }
}
