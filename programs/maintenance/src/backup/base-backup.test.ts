import { mkdtempSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { copyCluster } from './base-backup.ts'

test('writes the data of the only archive', async () => {
  const chunks = Array.from({ length: 200 }, (_, i) => String(i % 10).repeat(10_000))
  const file = await copyFrom(copyOf('n', ...chunks.map(text => `d${text}`), 'p'))
  expect(gunzipSync(readFileSync(file)).toString()).toBe(chunks.join(''))
})

test('refuses a cluster with tablespaces', async () => {
  await expect(copyFrom(copyOf('n', 'da', 'n', 'db'))).rejects.toThrow('The cluster has tablespaces')
})

test('reports what the server refuses', async () => {
  const refusal = message('E', 'SERROR\0C42501\0Mpermission denied\0\0')
  await expect(copyFrom(Buffer.concat([refusal, ready]))).rejects.toThrow('permission denied')
})

test('a server that ends during the copy fails the backup, and nothing else', async () => {
  await expect(copyFrom(null)).rejects.toThrow('terminated unexpectedly')
})

const message = (type: string, content: string) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + content.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)])
}
const ready = message('Z', 'I')
const welcome = Buffer.concat([message('R', '\0\0\0\0'), ready])
const done = Buffer.concat([message('C', 'DONE\0'), ready])

/** Returns what a server answers to BASE_BACKUP: the messages of a copy, whose first byte names their content. */
function copyOf(...messages: string[]): Buffer {
  const copied = messages.map(content => message('d', content))
  return Buffer.concat([message('H', '\0\0\0'), ...copied, message('c', ''), done])
}

/** Copies from a server that answers so, or ends when it should. Returns the file of the copy. */
async function copyFrom(answer: Buffer | null): Promise<string> {
  const answers = [welcome, done, answer]
  const server = createServer((socket: Socket) => {
    socket.on('data', () => {
      const next = answers.shift()
      if (next) socket.write(next)
      else socket.destroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const file = join(mkdtempSync(join(tmpdir(), 'backup-')), 'cluster.tar.gz')
  await copyCluster(`postgres://a@127.0.0.1:${port}/a`, file)
  return file
}
