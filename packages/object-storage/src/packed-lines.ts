import { createHash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'

export function pack(lines: readonly string[]): Promise<Buffer> {
  return promisify(gzip)(`${lines.join('\n')}\n`)
}

/** Returns the SHA-256 of bytes in base64. */
export function checksumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}

/** Yields the lines of an object that `pack` made. A caller that stops early ends the download. */
export async function* readLines(object: Readable): AsyncIterable<string> {
  // An error of the download destroys the other stream. That stream's iterator throws it.
  const unpacked = pipeline(object, createGunzip(), () => {}).setEncoding('utf8')
  let rest = ''
  for await (const chunk of unpacked) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
