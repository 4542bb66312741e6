import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import pg from 'pg'
import { environment } from '../config.ts'
import { openConnections } from './load.ts'

export type FloorCalls = { url: string; body: string; count: number; concurrency: number }

/**
 * Adds the floor that Belfry is compared with: a server that stores the body of each POST by one INSERT, and makes calls whose
 * outcome it does not store.
 */
export function addFloor(program: Command): void {
  program.command('bench-floor', { hidden: true }).argument('<port>').action(runFloor)
}

const insert = 'INSERT INTO floor (due_at, body) VALUES ($1, $2) RETURNING id'

async function runFloor(port: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: environment.DATABASE_URL, max: 10 })
  await pool.query('CREATE TABLE floor (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), due_at timestamptz, body text)')
  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
    const body = await text(incoming)
    const { execute_at: dueAt } = JSON.parse(body) as { execute_at: string } // as the bench sends it
    const { rows } = await pool.query({ name: 'insert', text: insert, values: [dueAt, body] })
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(rows[0]))
  })
  server.listen(Number(port), '127.0.0.1', () => process.send?.('ready'))
  process.on('message', (calls: FloorCalls) => void makeCalls(calls))
  process.once('disconnect', () => process.exit())
}

async function makeCalls({ url, body, count, concurrency }: FloorCalls): Promise<void> {
  using post = openConnections(concurrency)
  let left = count
  const lane = async () => {
    while (left-- > 0) await post(url, body, 200)
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}
