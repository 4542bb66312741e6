import { writeSync } from 'node:fs'

// One write for dozens of lines. SIGKILL loses the lines that are still buffered.
const bufferBytes = 8_192
const flushMs = 250
const maxUnwrittenBytes = 1_048_576
// The reader of a pipe may be a little behind when the process exits.
const maxExitTries = 100
const exitPauseMs = 10

/**
 * The output of a process's log lines. They are joined once for each write: within 250 ms, or when `flush` is called. Lines
 * that cannot be written, for example because the disk is full, are kept up to a megabyte, and written later.
 */
export type LogOutput = {
  write(line: string): void
  flush(): void
  /** pino calls this after a fatal line. */
  flushSync(): void
}

/** @param descriptor - The file descriptor that receives the lines. */
export function openLogOutput(descriptor: number): LogOutput {
  let lines: string[] = []
  let length = 0
  let unwritten: Buffer | null = null
  let timer: NodeJS.Timeout | undefined

  // Synchronous: exiting would lose an asynchronous write that is in flight.
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    let rest = Buffer.from(lines.join(''))
    if (unwritten) rest = Buffer.concat([unwritten, rest])
    lines = []
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest))
    } catch {}
    unwritten = rest.length > 0 ? rest : null
    length = rest.length
  }

  process.once('exit', () => {
    flush()
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 0; unwritten && tries < maxExitTries; tries++) {
      Atomics.wait(pause, 0, 0, exitPauseMs)
      flush()
    }
  })

  return {
    write(line) {
      if (length + line.length > maxUnwrittenBytes) return
      lines.push(line)
      length += line.length
      if (length >= bufferBytes && !unwritten) flush()
      else timer ??= setTimeout(flush, flushMs).unref()
    },
    flush,
    flushSync: flush,
  }
}
