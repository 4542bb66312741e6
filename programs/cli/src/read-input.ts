import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Context } from './context.ts'
import { UsageError } from './usage-error.ts'

/** Returns the text of a file, or of standard input for `-`, without a byte order mark. */
export async function readInput(ctx: Context, file: string): Promise<string> {
  const bytes = await readBytes(ctx, file)
  // PowerShell writes UTF-16.
  const encoding = { fffe: 'utf-16le', feff: 'utf-16be' }[bytes.toString('hex', 0, 2)] ?? 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    const name = file === '-' ? 'Standard input' : file
    throw new UsageError(`${name} is not ${encoding.toUpperCase()} text.`)
  }
}

export async function readBytes(ctx: Context, file: string): Promise<Buffer> {
  if (file === '-') return buffer(ctx.stdin)
  return readFile(file).catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`)
  })
}
