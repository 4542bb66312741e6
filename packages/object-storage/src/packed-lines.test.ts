import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { pack, readLines } from './packed-lines.ts'

async function collect(object: Readable): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(object)) lines.push(line)
  return lines
}

it('returns the lines that were packed, with characters that other readers split at', async () => {
  const lines = ['{"a":"é\u2028\u2029\u0085"}', '', 'x'.repeat(200_000), '{}']
  const packed = await pack(lines)
  const pieces = Array.from({ length: packed.length }, (_, i) => packed.subarray(i, i + 1))
  expect(await collect(Readable.from(pieces))).toEqual(lines)
})

it('throws when the object ends early, is no gzip, or its download fails', async () => {
  const packed = await pack(['a'.repeat(1000), 'b'])
  await expect(collect(Readable.from([packed.subarray(0, -10)]))).rejects.toThrow(/unexpected end/)
  await expect(collect(Readable.from([Buffer.from('{}')]))).rejects.toThrow(/incorrect header/)
  const broken = Readable.from(
    (async function* () {
      yield packed.subarray(0, 10)
      throw new Error('reset')
    })(),
  )
  await expect(collect(broken)).rejects.toThrow('reset')
})

it('ends the download when the caller has read enough', async () => {
  const object = Readable.from([await pack(['a', 'b'])])
  for await (const line of readLines(object)) {
    expect(line).toBe('a')
    break
  }
  expect(object.destroyed).toBe(true)
})
