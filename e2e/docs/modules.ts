import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ProcessResult } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { transform } from 'esbuild'
import { type FetchHandler, serveFetch } from '../client/serve-receiver.ts'
import { moduleName } from './check-types.ts'
import type { Block } from './read-pages.ts'
import { runForAWhile, runProgram } from './run-program.ts'
import type { Stage } from './stage.ts'

/** Returns whether a block is a receiver, which exports a request handler. */
export function isReceiver({ text }: Block): boolean {
  return /^export async function POST\b/m.test(text)
}

/** Runs a block as a program. */
export async function runModule(stage: Stage, block: Block): Promise<ProcessResult> {
  const path = await writeModule(stage, block)
  const program = { file: process.execPath, args: [path], folder: stage.project.folder, env: stage.env }
  return block.mark?.kind === 'runs until stopped' ? runForAWhile(program) : runProgram(program)
}

/** Sends a delivery and a forged one to a receiver block. Returns its answers. */
export async function deliverTo(stage: Stage, block: Block): Promise<{ ours: number; forged: number }> {
  const { POST } = (await import(pathToFileURL(await writeModule(stage, block)).href)) as { POST: FetchHandler }
  const receiver = await serveFetch(POST)
  try {
    const event = { topic: 'orders.paid', payload: { order: 42, id: 42 }, target_url: `${receiver.url}/hooks/belfry` }
    const { body } = await stage.belfry.call('POST', '/api/events', event)
    const path = `/api/v1/scheduler/tasks/${body.tasks[0].id}`
    const done = await waitFor(
      () => stage.belfry.call('GET', path),
      answer => answer.body.last_run !== null,
      60_000,
    )
    const headers = {
      'webhook-id': 'task_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    }
    const forged = await fetch(`${receiver.url}/hooks/belfry`, { method: 'POST', body: '{}', headers })
    return { ours: done.body.last_run.response_status, forged: forged.status }
  } finally {
    receiver.close()
  }
}

async function writeModule(stage: Stage, block: Block): Promise<string> {
  const { code } = await transform(stage.fillIn(block.text), { loader: 'ts', target: 'es2022' })
  const path = join(stage.project.folder, 'blocks', `${moduleName(block)}.mjs`)
  await writeFile(path, code)
  return path
}
