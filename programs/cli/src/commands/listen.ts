import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Run } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { isExpected, type LocalRequest, toLocalRequest, whyNotFaithful } from '../listen/local-request.ts'
import type { FieldFlags } from '../options/field-options.ts'
import type { Cell } from '../output/output.ts'
import { parseDuration } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'
import { isWanted, withRunFilter } from './tail.ts'

type Flags = FieldFlags & { from?: string[]; pathPrefix?: string; path?: string; timeout: string; retries: boolean }

const limits = `
Each attempt that Belfry makes is sent once more to your machine, about a second later: same method, path, headers,
signature and body. What your machine answers is shown here and changes nothing in Belfry. Requests with
secrets are not sent: the log does not show them as they were. Every key of the workspace can create deliveries, so
limit their target with --from and --path-prefix when others have one.`

export function addListen(program: Command, context: () => Context): void {
  const command = program
    .command('listen')
    .description('forward a copy of every delivery of the workspace to this machine, until Ctrl-C')
    .argument('<where>', 'a port, or a URL such as http://localhost:3001/app')
    .option('--from <host...>', 'forward only deliveries to these hosts')
    .option('--path-prefix <path>', 'forward only deliveries to paths that begin with this one')
    .option('--path <path>', 'forward all to this path instead of their own')
    .option('--timeout <time>', 'the time limit of each request', '30s')
    .option('--no-retries', 'forward first attempts only')
    .addHelpText('after', limits)
  withRunFilter(command).action(async (where: string, flags: Flags) => {
    const ctx = context()
    const base = localUrl(where)
    const { runs } = ctx.belfry({ response: ({ status }) => status === 200 && announce() })
    let announce = () => {
      announce = () => {}
      ctx.stderr.write(`Forwarding deliveries to ${base.href} (Ctrl-C to stop)\n`)
    }
    const onOmitted = (count: number) =>
      ctx.stderr.write(`At least ${count} deliveries were omitted because there are too many.\n`)
    for await (const run of runs.tail({ signal: ctx.signal, onOmitted })) {
      if (!isWanted(run, flags) || !isExpected(run.url, flags)) continue
      if (!flags.retries && run.attempt > 1) continue
      try {
        await forward(ctx, run, base, flags)
      } catch (error) {
        ctx.signal.throwIfAborted()
        // A failure must not end the others.
        ctx.stderr.write(`${run.id} was not forwarded: ${error instanceof Error ? error.message : error}\n`)
      }
    }
  })
}

async function forward(ctx: Context, run: Run, base: URL, flags: Flags): Promise<void> {
  const detail = await ctx.belfry().runs.get(run.id, { signal: ctx.signal })
  const why = whyNotFaithful(detail)
  const local = toLocalRequest(detail, base, flags.path)
  const answer = why === null ? await sendLocalRequest(local, parseDuration(flags.timeout), ctx.signal) : null
  ctx.signal.throwIfAborted()
  const value = {
    runId: run.id,
    taskId: run.taskId,
    attempt: run.attempt,
    method: local.method,
    url: local.url.href,
    local: answer ?? { skipped: why },
    belfry: { status: run.status, responseStatus: run.responseStatus, error: run.error },
  }
  const cells = [run.startedAt, answerCell(answer), `${local.method} ${local.url.pathname}${local.url.search}`]
  const aside = why === null ? `attempt ${run.attempt} of ${run.taskName}` : `not sent: ${why}`
  ctx.out.row({ value, cells: [...cells, aside] })
}

function answerCell(answer: LocalAnswer | null): Cell {
  if (answer === null) return { text: 'skipped', colour: 'yellow' }
  if ('error' in answer) return { text: answer.error, colour: 'red' }
  const isFine = answer.status >= 200 && answer.status < 300
  const text = `${answer.status} in ${answer.durationMs} ms`
  return isFine ? { text, colour: 'green' } : { text, colour: 'red' }
}

function localUrl(where: string): URL {
  const text = /^\d+$/.test(where) ? `http://localhost:${where}` : where
  if (URL.canParse(text) && /^https?:/.test(text)) return new URL(text)
  throw new UsageError(`${where} is not a port or a URL such as http://localhost:3001.`)
}

type LocalAnswer = { status: number; durationMs: number } | { error: string; durationMs: number }

/** Sends a request to a program on this machine. Resolves even when there is no response. */
function sendLocalRequest(local: LocalRequest, timeoutMs: number, signal: AbortSignal): Promise<LocalAnswer> {
  const { url, method, headers, body } = local
  const started = performance.now()
  const took = () => Math.round(performance.now() - started)
  const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise(resolve => {
    const fail = (error: Error) => resolve({ error: error.message, durationMs: took() })
    const options = { method, headers: { ...headers, ...length }, signal, agent: false, timeout: timeoutMs } as const
    const outgoing = send(url, options, answer => {
      answer.resume()
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, durationMs: took() }))
      answer.once('error', fail)
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error(`no response within ${timeoutMs} ms`)))
    outgoing.once('error', fail)
    outgoing.end(body ?? undefined)
  })
}
