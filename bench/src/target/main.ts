// The target of every benchmark: answers each request at once with the same 98 bytes, and counts.
import { createServer } from 'node:net'
import { countForParent } from '../lab/count-operations.ts'
import { endWithParent } from '../lab/parent.ts'
import { createRequestReader } from './http-requests.ts'

const body = JSON.stringify({ ok: true, received: 1, note: 'x'.repeat(58) })
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  'latin1',
)
// A request whose path begins like this is told apart by what follows.
const namedPath = '/named/'

endWithParent()
const count = countForParent()
const server = createServer({ noDelay: true }, socket => {
  const reader = createRequestReader()
  socket.on('data', chunk => {
    reader.read(chunk, path => {
      count.add(path.startsWith(namedPath) ? path.slice(namedPath.length) : undefined)
      socket.write(answer)
    })
  })
  socket.on('error', () => {}) // followed by close
})
server.listen(0, '127.0.0.1', 4096, () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
})
