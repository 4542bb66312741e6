import { writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const standardOutput = 1
const newline = 0x0a

/**
 * Appends lines to a file, or to standard output for `-`, and resolves once a regular file has them on its disk. The file is
 * opened each time, so it may be renamed and rotated.
 */
export async function appendLines(file: string, lines: string): Promise<void> {
  if (file === '-') return writeToOutput(Buffer.from(lines))
  const handle = await open(file, 'a+', 0o600)
  try {
    const stats = await handle.stat()
    await handle.appendFile((await endsWithinLine(handle, stats.size)) ? `\n${lines}` : lines)
    if (stats.isFile()) await handle.datasync()
  } finally {
    await handle.close()
  }
}

// Synchronous, like the log, so log lines cannot get between the parts of a line.
function writeToOutput(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(standardOutput, bytes, written)
}

// A process that was killed, or a full disk, may have cut the last line.
async function endsWithinLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== newline
}
