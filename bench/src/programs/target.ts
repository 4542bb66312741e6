// The target of every benchmark. It answers each request at once with the same 98 bytes, and counts.
import { type AddressInfo, createServer } from 'node:net'
import { countForParent, startAsChild } from '../lab/child-side.ts'
import { readMessages } from '../lab/http-messages.ts'

const body = JSON.stringify({ ok: true, received: 1, note: 'x'.repeat(58) })
const answerHead = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
const answer = Buffer.from(`${answerHead}\r\n\r\n${body}`, 'latin1')
// The rest of a path that starts with this names the call.
const namedPath = '/named/'

startAsChild()
const count = countForParent()
const server = createServer({ noDelay: true }, socket => {
  readMessages(socket, head => {
    const from = head.indexOf(' ') + 1
    const path = head.slice(from, head.indexOf(' ', from))
    count(path.startsWith(namedPath) ? path.slice(namedPath.length) : undefined)
    socket.write(answer)
  })
  socket.on('error', () => {}) // a close event follows
})
server.listen(0, '127.0.0.1', 4096, () => process.send?.(server.address() as AddressInfo))
