import { ImportRefusal } from './entry.ts'

/** Returns the expression that fires at an interval, and a note, because an interval starts at another time. */
export function cronOfRate(count: number, unit: string): { cron: string; notes: string[] } {
  const minutes = count * (/^min/.test(unit) ? 1 : /^hour/.test(unit) ? 60 : 1_440)
  const cron = fieldsOf(minutes)
  if (cron === null) throw new ImportRefusal(`No cron expression fires every ${count} ${unit}.`)
  return { cron, notes: [`every ${count} ${unit} counts from its creation; ${cron} fires at fixed times`] }
}

function fieldsOf(minutes: number): string | null {
  const every = (n: number) => (n === 1 ? '*' : `*/${n}`)
  if (minutes > 0 && 60 % minutes === 0) return minutes === 60 ? '0 * * * *' : `${every(minutes)} * * * *`
  if (minutes > 0 && 1_440 % minutes === 0 && minutes % 60 === 0) {
    return minutes === 1_440 ? '0 0 * * *' : `0 ${every(minutes / 60)} * * *`
  }
  return minutes === 7 * 1_440 ? '0 0 * * 0' : null
}
