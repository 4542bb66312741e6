import { mkdtempSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyCluster } from './base-backup.ts'

// AuthenticationOk and ReadyForQuery.
const welcome = Buffer.from('5200000008000000005a0000000549', 'hex')

test('a server that ends during the copy fails the backup, and nothing else', async () => {
  const server = createServer((socket: Socket) => {
    socket.once('data', () => {
      socket.write(welcome)
      socket.once('data', () => socket.destroy())
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const file = join(mkdtempSync(join(tmpdir(), 'backup-')), 'cluster.tar.gz')
  await expect(copyCluster(`postgres://a@127.0.0.1:${port}/a`, file)).rejects.toThrow('terminated unexpectedly')
})
