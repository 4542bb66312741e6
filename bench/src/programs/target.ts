// The target of every benchmark. It answers each request at once with the same 98 bytes, and counts.
import { createServer } from 'node:net'
import { countForParent, startAsChild } from '../lab/child-side.ts'
import { createMessageReader } from '../lab/http-messages.ts'

const body = JSON.stringify({ ok: true, received: 1, note: 'x'.repeat(58) })
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  'latin1',
)
// The rest of a path that starts with this names the call.
const namedPath = '/named/'

startAsChild()
const count = countForParent()
const server = createServer({ noDelay: true }, socket => {
  const reader = createMessageReader()
  socket.on('data', chunk => {
    reader.read(chunk, head => {
      const path = pathOf(head)
      count.add(path.startsWith(namedPath) ? path.slice(namedPath.length) : undefined)
      socket.write(answer)
    })
  })
  socket.on('error', () => {}) // a close event follows
})
server.listen(0, '127.0.0.1', 4096, () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
})

function pathOf(head: string): string {
  const from = head.indexOf(' ') + 1
  return head.slice(from, head.indexOf(' ', from))
}
