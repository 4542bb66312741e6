import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { toCurl } from './to-curl.ts'

const request = {
  method: 'POST',
  url: 'https://example.com/?a=1&b=$HOME',
  headers: {},
  body: null,
  body_encoding: 'utf8' as const,
  body_truncated: false as const,
}

it('writes a request as a command', () => {
  const headers = { Host: 'example.com', 'content-type': 'application/json' }
  expect(toCurl({ ...request, headers, body: '{"a":1}' })).toBe(
    `curl -X POST 'https://example.com/?a=1&b=$HOME' \\\n  -H 'content-type: application/json' \\\n  --data-raw '{"a":1}'`,
  )
})

it('decodes the bytes of a raw body', () => {
  const command = toCurl({ ...request, body: 'AP8=', body_encoding: 'base64' }).replace(/curl.*/s, 'od -An -tx1')
  expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim()).toBe('00 ff')
})

it.each(["it's", '$(touch x) `id` "y" \\', "'; exit 1; '", '@/etc/passwd', 'two\nlines'])(
  'a shell does not interpret %j',
  body => {
    const command = toCurl({ ...request, body }).replace(/^curl/, "printf '%s\\0'")
    const words = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\0')
    expect(words.slice(0, -1)).toEqual(['-X', 'POST', request.url, '--data-raw', body])
  },
)
