import { readFile } from 'node:fs/promises'
import type { Context } from './context.ts'
import { UsageError } from './usage-error.ts'

/** Returns the text of a file, or of standard input for `-`. */
export async function readInput(ctx: Context, file: string): Promise<string> {
  return (await readBytes(ctx, file)).toString('utf8')
}

/** Returns the bytes of a file, or of standard input for `-`. */
export async function readBytes(ctx: Context, file: string): Promise<Buffer> {
  if (file !== '-') {
    return readFile(file).catch((error: Error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`)
    })
  }
  const pieces: Buffer[] = []
  for await (const piece of ctx.stdin) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}
