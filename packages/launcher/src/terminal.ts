/** Shows lines to the user. A terminal that is gone is no reason to fail. */
export function say(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {})
  process.stdout.write(`${text}\n`)
}

/** The time of day, as it stands in front of a line. */
export function clockTime(at: Date): string {
  return at.toTimeString().slice(0, 8)
}
