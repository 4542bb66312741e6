const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Writes a whole number with its thousands apart. */
export function formatCount(count: number): string {
  return count.toLocaleString('en')
}

/** Writes a number of bytes with the largest decimal unit that leaves at least one. */
export function formatBytes(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const amount = bytes / 1000 ** unit
  return `${amount.toLocaleString('en', { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit]}`
}
