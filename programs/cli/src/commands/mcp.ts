import { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Context } from '../context.ts'

export function addMcp(program: Command, context: () => Context): void {
  program
    .command('mcp')
    .description(
      'serve the tools of a workspace to an agent, by the Model Context Protocol on standard input and output',
    )
    .action(async () => {
      const ctx = context()
      const { createAgentServer } = await import('@belfry/agents')
      const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
      const input = Readable.from(ctx.stdin)
      const output = new Writable({
        write(chunk, _encoding, done) {
          ctx.stdout.write(String(chunk))
          done()
        },
      })
      const server = serveStdio(() => createAgentServer(ctx.connection()), {
        transport: new StdioServerTransport(input, output),
        maxSubscriptions: 0,
      })
      const ended = new Promise(resolve => input.once('close', resolve).once('end', resolve))
      const stopped = new Promise(resolve => ctx.signal.addEventListener('abort', resolve, { once: true }))
      await Promise.race([ended, stopped])
      await server.close()
    })
}
