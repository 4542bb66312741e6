import { describe, expect, it } from 'vitest'
import { createMessageReader } from './http-messages.ts'

const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const answer = (status: number, body: string) => `HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\n\r\n${body}`

function messagesIn(chunks: string[]): string[] {
  const reader = createMessageReader()
  const messages: string[] = []
  for (const chunk of chunks) {
    reader.read(Buffer.from(chunk), (head, body) => messages.push(`${head.slice(0, head.indexOf('\r\n'))}: ${body}`))
  }
  return messages
}

describe('the messages on a connection', () => {
  it('are reported one by one when several arrive together', () => {
    const expected = ['POST /a HTTP/1.1: x', 'POST /b HTTP/1.1: ', 'POST /c HTTP/1.1: yy']
    expect(messagesIn([post('/a', 'x') + post('/b', ''), post('/c', 'yy')])).toEqual(expected)
  })

  it('are reported when their last byte has arrived, wherever they are split', () => {
    const text = post('/a', 'hello')
    for (let cut = 1; cut < text.length; cut++) {
      expect(messagesIn([text.slice(0, cut)])).toEqual([])
      const both = messagesIn([text.slice(0, cut), text.slice(cut) + post('/b', '')])
      expect(both).toEqual(['POST /a HTTP/1.1: hello', 'POST /b HTTP/1.1: '])
    }
  })

  it('may be answers', () => {
    const text = answer(201, 'one') + answer(500, '')
    for (let cut = 0; cut <= text.length; cut++) {
      expect(messagesIn([text.slice(0, cut), text.slice(cut)])).toEqual(['HTTP/1.1 201 X: one', 'HTTP/1.1 500 X: '])
    }
  })

  it('need no body', () => {
    expect(messagesIn(['GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n'])).toEqual(['GET /a?b=c HTTP/1.1: '])
  })
})
