// Sends requests over a number of connections, one in flight on each, as cheaply as possible, and counts the answers.
import { connect } from 'node:net'
import { countForParent, numberMark, parentSaysGo, startAsChild } from '../lab/child-side.ts'
import { readMessages } from '../lab/http-messages.ts'

export type LoadOptions = {
  port: number
  connections: number
  requests: number
  /** Request line, headers and body. Each `numberMark` becomes a number with as many digits. */
  request: string
  /** The status that every answer must have. */
  status: number
}

const options = startAsChild<LoadOptions>()
const pieces = options.request.split(numberMark)
const plain = Buffer.from(options.request)
const count = countForParent()
let left = options.requests

function open(): void {
  const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true })
  const next = () => {
    if (left-- <= 0) socket.destroy()
    else socket.write(pieces.length === 1 ? plain : pieces.join(String(left).padStart(numberMark.length, '0')))
  }
  socket.once('connect', next)
  readMessages(socket, (head, body) => {
    if (Number(head.slice(9, 12)) !== options.status) fail(`Unexpected answer: ${head}\n${body}`)
    count()
    next()
  })
  socket.on('error', error => fail(error.message))
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

await parentSaysGo()
for (let i = 0; i < options.connections; i++) open()
