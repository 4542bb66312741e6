import { describe, expect, it } from 'vitest'
import { createRequestReader } from './http-requests.ts'

const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`

function pathsOf(chunks: string[]): string[] {
  const reader = createRequestReader()
  const paths: string[] = []
  for (const chunk of chunks) reader.read(Buffer.from(chunk), path => paths.push(path))
  return paths
}

describe('the requests on a connection', () => {
  it('are told one by one when several come at once', () => {
    expect(pathsOf([post('/a', 'x') + post('/b', ''), post('/c', 'yy')])).toEqual(['/a', '/b', '/c'])
  })

  it('are told when their last byte has come, wherever they are cut', () => {
    const text = post('/a', 'hello')
    for (let cut = 1; cut < text.length; cut++) {
      expect(pathsOf([text.slice(0, cut)])).toEqual([])
      expect(pathsOf([text.slice(0, cut), text.slice(cut) + post('/b', '')])).toEqual(['/a', '/b'])
    }
  })

  it('need no body', () => {
    expect(pathsOf(['GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n'])).toEqual(['/a?b=c'])
  })
})
