import { expect, it } from 'vitest'
import { parseStorageUrl } from './storage-url.ts'

it('reads the bucket, the prefix, the server and the region', () => {
  expect(parseStorageUrl('s3://logs')).toEqual({ bucket: 'logs', prefix: '', endpoint: null, region: 'us-east-1' })
  expect(parseStorageUrl('s3://logs/belfry/runs/?endpoint=http://127.0.0.1:7070&region=eu-central-1')).toEqual({
    bucket: 'logs',
    prefix: 'belfry/runs',
    endpoint: 'http://127.0.0.1:7070',
    region: 'eu-central-1',
  })
})

it.each([
  ['logs', /must be s3:/],
  ['https://logs.example.com', /must be s3:/],
  ['s3://key:secret@logs', /no credentials/],
  ['s3://logs?endpoint=nowhere', /endpoint/],
  ['s3://logs?style=path', /unknown parameter style/],
])('refuses %s', (text, message) => {
  expect(() => parseStorageUrl(text)).toThrow(message)
})
