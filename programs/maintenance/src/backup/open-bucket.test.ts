import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { namesOf, openBucket } from './open-bucket.ts'

const name = 'belfry-20261124T030000Z'

it.each(['', 'belfry/', 'production/belfry/'])('finds the complete backups directly below the prefix "%s"', prefix => {
  const own = ['manifest.json', 'cluster.tar.gz'].map(file => `${prefix}${name}/${file}`)
  const others = [
    ...['belfry-staging', name].map(store => `${prefix}${store}/${name}/manifest.json`),
    `belfry-staging/${name}/manifest.json`,
    `${prefix}belfry-notes/manifest.json`,
    `${prefix}belfry-20261124T040000Z/cluster.tar.gz`,
  ]
  expect(namesOf([...own, ...others], prefix)).toEqual([name])
})

const second = 'belfry-20261125T030000Z'

/** Opens a bucket with two backups, whose storage refuses to give out the first one. */
async function openRefusing(status: number, code: string) {
  const manifest = { format: 1, kind: 'dump', createdAt: '', version: '', migration: '', postgres: '', rows: {} }
  const objects = [name, second].map(one => `<Contents><Key>${one}/manifest.json</Key></Contents>`)
  const server = createServer(({ url = '' }, response) => {
    if (url.includes('list-type')) response.end(`<ListBucketResult>${objects.join('')}</ListBucketResult>`)
    else if (url.includes(second)) response.end(JSON.stringify({ ...manifest, hasSecrets: false, files: [] }))
    else response.writeHead(status).end(`<Error><Code>${code}</Code><Message>Not now</Message></Error>`)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { port } = server.address() as AddressInfo
  return openBucket('s3://backups', { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' })
}

it.each([
  ['archived', 403, 'InvalidObjectState'],
  ['not known yet', 404, 'NoSuchKey'],
])('lists the other backups when one is %s, and says that this one cannot be read', async (_, status, code) => {
  const readable = { name: second, manifest: expect.anything() }
  expect(await (await openRefusing(status, code)).list()).toEqual([readable, { name, problem: 'Not now' }])
})

it('lists nothing when the storage fails', async () => {
  const failing = await openRefusing(501, 'NotImplemented')
  await expect(failing.list()).rejects.toThrow('Object storage s3://backups: NotImplemented: Not now')
})
