const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** Parses a duration such as `10s`, `1h30m`, `1.5s` or `120ms` into milliseconds. Returns null for other text. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+(\.\d+)?(d|h|ms|m|s))+$/.test(text)) return null
  let total = 0
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(d|h|ms|m|s)/g)) {
    total += Number(amount) * unitMs[unit as keyof typeof unitMs]
  }
  return Math.round(total)
}
