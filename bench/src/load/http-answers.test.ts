import { expect, it } from 'vitest'
import { createAnswerReader } from './http-answers.ts'

const answer = (status: number, body: string) => `HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\n\r\n${body}`

it('tells every answer once, wherever the stream is cut', () => {
  const text = answer(201, 'one') + answer(500, '')
  for (let cut = 0; cut <= text.length; cut++) {
    const reader = createAnswerReader()
    const statuses: number[] = []
    for (const piece of [text.slice(0, cut), text.slice(cut)]) {
      reader.read(Buffer.from(piece), status => statuses.push(status))
    }
    expect(statuses).toEqual([201, 500])
  }
})
