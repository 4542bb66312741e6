import { formatCount } from '../../ui/format-amount.ts'

/** A count for people: "1,204"; "5,000+" where counting stopped. */
export function formatCounted(count: number, isCapped: boolean): string {
  return `${formatCount(count)}${isCapped ? '+' : ''}`
}

/** A share in percent. Only what is all is 100 %, and only what is nothing 0 %. */
export function formatRate(part: number, whole: number): string {
  if (whole === 0) return '–'
  if (part === whole) return '100 %'
  if (part === 0) return '0 %'
  const percent = (part / whole) * 100
  if (percent < 0.1) return '< 0.1 %'
  return `${Math.min(99.99, percent).toFixed(percent > 99 ? 2 : 1)} %`
}
