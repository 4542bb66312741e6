/** Prints lines for the user. A closed terminal is not an error. */
export function say(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => {})
  process.stdout.write(`${text}\n`)
}

/** Returns the time of day for the start of a line. */
export function clockTime(at: Date): string {
  return at.toTimeString().slice(0, 8)
}
