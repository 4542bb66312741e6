// Sends the same request again and again over so many connections, each with one request under way, as cheaply as may
// be, and counts the answers.
import { connect } from 'node:net'
import { countForParent } from '../lab/count-operations.ts'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createAnswerReader } from './http-answers.ts'
import { numberMark } from './number-mark.ts'

export type LoadOptions = {
  port: number
  connections: number
  requests: number
  /** Request line, headers and body. Every `numberMark` in it is another number, of as many digits, in each request. */
  request: string
  /** The status that every answer must have. */
  status: number
}

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as LoadOptions // as the bench writes it
const pieces = options.request.split(numberMark)
const plain = Buffer.from(options.request)
const count = countForParent()
let left = options.requests

function open(): void {
  const reader = createAnswerReader()
  const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true })
  const next = () => {
    if (left-- > 0)
      socket.write(pieces.length === 1 ? plain : pieces.join(String(left).padStart(numberMark.length, '0')))
    else socket.destroy()
  }
  socket.once('connect', next)
  socket.on('data', chunk => {
    reader.read(chunk, (status, text) => {
      if (status !== options.status) fail(`An answer has status ${status}: ${text}`)
      count.add()
      next()
    })
  })
  socket.on('error', error => fail(error.message))
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

await parentSaysGo()
for (let i = 0; i < options.connections; i++) open()
