/** A count for people: "1,204"; "5,000+" where counting stopped. */
export function formatCount(count: number, isCapped: boolean): string {
  return `${count.toLocaleString('en-GB')}${isCapped ? '+' : ''}`
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

/** Bytes for people: "1.2 GB". */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** power
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${units[power]}`
}
