import { badRequest } from '../qstash-error.ts'

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as `10s`, `1m`, `2h`, `7d` or `1h30m` into milliseconds. A number without a unit is seconds. */
export function parseDuration(header: string, value: string): number {
  const text = value.trim()
  if (/^\d+$/.test(text)) return within(header, Number(text) * 1000)
  if (!/^(\d+[smhd])+$/.test(text)) {
    throw badRequest(`invalid ${header}: "${value}" is not a duration such as 10s, 1m, 2h or 7d`)
  }
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+)([smhd])/g)) {
    total += Number(amount) * unitMs[unit as keyof typeof unitMs]
  }
  return within(header, total)
}

const maxMs = 73 * 365 * unitMs.d

function within(header: string, ms: number): number {
  if (ms <= maxMs) return ms
  throw badRequest(`invalid ${header}: the duration is too long`)
}
