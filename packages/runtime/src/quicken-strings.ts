/**
 * Makes the methods of strings as fast as they were when the process started. Once a class is derived from String, as
 * ioredis does, V8 keeps `String.prototype` as a dictionary, and whatever a string is asked costs about four times as much.
 * That ends when code that is run often asks a String object for something. Programs hardly ever do; this does.
 */
export function quickenStrings(): void {
  const text = Object('text') as string
  for (let i = 0; i < 1_000; i++) text.at(0)
}
