import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claimVolume, endsWithContainer } from './volume.ts'

// Windows has no images, and no such sockets.
it.skipIf(process.platform === 'win32')('is taken once, refused while it is in use, and free afterwards', async () => {
  const socket = join(mkdtempSync(join(tmpdir(), 'volume-')), 'running.sock')
  const first = await claimVolume(socket, 0)
  await expect(claimVolume(socket, 0)).rejects.toThrow('A container still uses')
  const second = claimVolume(socket, 10_000)
  await first.stop()
  await (await second).stop()
})

it.skipIf(process.platform !== 'linux')('ends with the container unless it is on a mount', () => {
  expect(endsWithContainer('/proc/self')).toBe(false)
  expect(endsWithContainer('/no-such-mount')).toBe(true)
})
