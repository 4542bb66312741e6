import { createServer, type Socket, connect as tcpConnect } from 'node:net'

/** What a proxy does with the connections through it. */
export type ProxyMode =
  | { does: 'pass' }
  /** Takes bytes and connections and lets nothing through, without a word; what it holds goes on afterwards. */
  | { does: 'black_hole' }
  /** Breaks every connection, and every new one as soon as it is made. */
  | { does: 'reset' }
  /** Breaks every connection; nobody listens. */
  | { does: 'refuse' }
  /** Lets everything through later. */
  | { does: 'delay'; ms: number }

/** A TCP proxy in front of a server, to cut and to slow what passes. */
export type FaultProxy = {
  port: number
  set(mode: ProxyMode): Promise<void>
  /** Leads new connections to another port. */
  retarget(port: number): void
  close(): Promise<void>
}

type Pair = { near: Socket; far: Socket }

/** Starts a proxy on loopback; it passes everything until told otherwise. */
export async function startProxy(targetPort: number): Promise<FaultProxy> {
  const pairs = new Set<Pair>()
  let mode: ProxyMode = { does: 'pass' }
  let target = targetPort

  function accept(near: Socket): void {
    if (mode.does === 'reset') {
      near.on('error', () => {})
      near.resetAndDestroy()
      return
    }
    const pair = { near, far: tcpConnect(target, '127.0.0.1') }
    pairs.add(pair)
    forward(pair, near, pair.far)
    forward(pair, pair.far, near)
  }

  function forward(pair: Pair, from: Socket, to: Socket): void {
    let line = Promise.resolve()
    from.setNoDelay(true)
    if (mode.does === 'black_hole') from.pause()
    from.on('data', chunk => {
      if (mode.does !== 'delay') {
        line = line.then(() => write(to, chunk))
        return
      }
      const late = new Promise(resolve => setTimeout(resolve, mode.does === 'delay' ? mode.ms : 0))
      line = Promise.all([line, late]).then(() => write(to, chunk))
    })
    from.on('error', () => {}) // followed by close
    from.on('close', () => {
      if (mode.does === 'black_hole') return
      drop(pair)
    })
  }

  function drop(pair: Pair): void {
    pairs.delete(pair)
    pair.near.destroy()
    pair.far.destroy()
  }

  function breakAll(): void {
    for (const pair of pairs) {
      pairs.delete(pair)
      pair.near.resetAndDestroy()
      pair.far.resetAndDestroy()
    }
  }

  const server = createServer(accept)
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
  const port = await listen(0)

  return {
    port,
    retarget(newPort) {
      target = newPort
    },
    async set(next) {
      mode = next
      if (next.does === 'reset' || next.does === 'refuse') breakAll()
      if (next.does === 'refuse') await new Promise<void>(resolve => server.close(() => resolve()))
      else if (!server.listening) await listen(port)
      for (const pair of pairs) {
        const isHalf = pair.near.destroyed || pair.far.destroyed
        if (next.does === 'black_hole') for (const socket of [pair.near, pair.far]) socket.pause()
        else if (isHalf) drop(pair)
        else for (const socket of [pair.near, pair.far]) socket.resume()
      }
    },
    async close() {
      breakAll()
      if (server.listening) await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

function write(to: Socket, chunk: Buffer): void {
  if (to.writable) to.write(chunk)
}
