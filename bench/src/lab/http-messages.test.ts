import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { readMessages } from './http-messages.ts'

const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const answer = 'HTTP/1.1 201 X\r\nContent-Length: 3\r\n\r\none'

function messagesIn(chunks: string[]): string[] {
  const socket = new EventEmitter()
  const messages: string[] = []
  readMessages(socket, (head, body) => messages.push(`${head.slice(0, head.indexOf('\r\n'))}: ${body}`))
  for (const chunk of chunks) socket.emit('data', Buffer.from(chunk))
  return messages
}

it('reports each message when its last byte has arrived, wherever the bytes are split', () => {
  const text = post('/a', 'hello') + answer + post('/b', '')
  const expected = ['POST /a HTTP/1.1: hello', 'HTTP/1.1 201 X: one', 'POST /b HTTP/1.1: ']
  for (let cut = 0; cut <= text.length; cut++) {
    expect(messagesIn([text.slice(0, cut), text.slice(cut)])).toEqual(expected)
  }
  expect(messagesIn([text.slice(0, -1)])).toEqual(expected.slice(0, 2))
})

it('needs no body', () => {
  expect(messagesIn(['GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n'])).toEqual(['GET /a?b=c HTTP/1.1: '])
})
