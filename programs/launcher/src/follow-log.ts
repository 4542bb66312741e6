import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync, watch } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

// For file systems that do not report changes.
const pollMs = 2_000
const chunkBytes = 64 * 1024
const largeLogBytes = 10 * 1024 * 1024

/** Creates a log file unless it exists. A large log is renamed first, and replaces the previous renamed one. */
export function openLog(path: string): void {
  if (existsSync(path) && statSync(path).size > largeLogBytes) renameSync(path, `${path}.old`)
  closeSync(openSync(path, 'a', 0o600))
}

/** Passes on every complete line that is added to a file from now on. */
export function followLog(path: string, onLine: (line: string) => void) {
  const file = openSync(path, 'r')
  const chunk = Buffer.alloc(chunkBytes)
  const decoder = new StringDecoder('utf8')
  let offset = fstatSync(file).size
  let rest = ''

  function catchUp(): void {
    if (fstatSync(file).size < offset) offset = 0 // truncated
    for (let bytes = readSync(file, chunk, 0, chunkBytes, offset); bytes > 0; ) {
      offset += bytes
      const lines = (rest + decoder.write(chunk.subarray(0, bytes))).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
      bytes = readSync(file, chunk, 0, chunkBytes, offset)
    }
  }

  const timer = setInterval(catchUp, pollMs)
  const watcher = watch(path, catchUp).on('error', () => {})
  return {
    /** Reads everything added so far. */
    catchUp,
    close(): void {
      watcher.close()
      clearInterval(timer)
      catchUp()
      closeSync(file)
    },
  }
}
